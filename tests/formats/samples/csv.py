"""Rows and predictions as Python's own module writes and reads them."""

import csv
import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.csv as pacsv

from relevance_bayes.records.values import Cell
from tests.formats.samples.json import FlatRow


def written(rows: Sequence[FlatRow]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*rows[0]])
    writer.writerows([["" if cell is None else cell for cell in row.values()] for row in rows])
    return text.getvalue().encode()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    rows = csv.DictReader(io.StringIO(content.decode()))
    return [{name: _cell(text) for name, text in row.items()} for row in rows]


def _cell(text: str) -> Cell:
    try:
        return float(text)
    except ValueError:
        return {"true": True, "false": False, "": None}.get(text, text)


def table_of(content: bytes) -> pa.Table:
    return pacsv.read_csv(io.BytesIO(content))
