"""Rows as the smallest workbook that there is."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from relevance_bayes.records.values import Cell
from tests.formats.samples.json import FlatRow

NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS: Mapping[str, str] = {
    "[Content_Types].xml": f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/></Types>""",
    "xl/workbook.xml": f"""<workbook xmlns="{NAMESPACE}" xmlns:r="{OFFICE}">
<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>""",
}


def written(rows: Sequence[FlatRow]) -> bytes:
    cells: list[Sequence[Cell]] = [[*rows[0]], *([*row.values()] for row in rows)]
    return workbook(f"<sheetData>{''.join(map(row_of, cells))}</sheetData>")


def workbook(sheet: str, parts: Mapping[str, str] = PARTS) -> bytes:
    """A file with one sheet, by what is in its root."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
        archive.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{NAMESPACE}">{sheet}</worksheet>')
    return content.getvalue()


def row_of(cells: Sequence[Cell]) -> str:
    return f"<row>{''.join(map(_cell, cells))}</row>"


def _cell(cell: Cell) -> str:
    match cell:
        case None:
            return "<c/>"
        case bool():
            return f'<c t="b"><v>{int(cell)}</v></c>'
        case int() | float():
            return f"<c><v>{cell!r}</v></c>"
        case _:
            return f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
