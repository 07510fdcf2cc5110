"""xlsx, the workbooks of spreadsheets, which are read but not written."""

from collections.abc import Mapping

from app.formats.expected import Expected, ReadRows
from app.formats.format import RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import XLSX
from relevance_bayes.records.values import ColumnKind


class Xlsx(TableFormat, RowFormat):
    """A sheet of a workbook, by default the first visible one; formulas are not computed, links not followed."""

    file_format = XLSX
    title = "xlsx"
    is_read_whole = True
    row_options = frozenset({"sheet", "missing_values", "skip_rows"})
    rows_summary = "The first visible sheet, or `sheet`: its first row names the columns; empty is missing."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read a sheet's rows as blocks."""
        from app.formats.xlsx_rows import open_xlsx

        return open_xlsx(file, options, declared=declared, max_columns=limits.max_columns)

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read a sheet's rows."""
        from io import BytesIO

        from app.formats.xlsx_rows import read_xlsx

        return read_xlsx(BytesIO(body), options, expected)
