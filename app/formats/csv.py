"""CSV, and tab-separated values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.formats.expected import Expected, ReadRows
from app.formats.flat_table import FlatTable
from app.formats.format import PartsFormat, Predictions, RowFormat, TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import CSV
from relevance_bayes.records.values import ColumnKind

TABS = "text/tab-separated-values"


class Csv(TableFormat, RowFormat, PartsFormat):
    """Lines of cells; options that are not given are detected."""

    file_format = CSV
    title = "CSV"
    other_media_types = (
        "application/csv",
        TABS,
    )
    row_options = frozenset(
        {"delimiter", "decimal", "thousands", "date_format", "missing_values", "encoding", "skip_rows"}
    )
    has_text_cells = True
    rows_summary = "A header, in any order; empty is missing. Tabs and semicolons are detected."
    predictions_summary = "A column for each number."

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read lines as blocks."""
        from app.formats.csv_stream import open_csv

        return open_csv(file, _by_type(options), declared=declared, max_columns=limits.max_columns)

    def read_texts(
        self, file: SpoolFile, options: ReadOptions, *, max_columns: int, rows: int
    ) -> Iterator[Sequence[Mapping[str, str]]]:
        """Yield at most `rows` rows at a time as texts by column, to the letter; raises as `read_table` does."""
        from app.formats.csv_stream import open_texts, strings_of

        names, batches = open_texts(file, _by_type(options), max_columns=max_columns)
        for batch in batches:
            for first in range(0, batch.num_rows, rows):
                columns = [column.fill_null("").to_pylist() for column in strings_of(batch.slice(first, rows))]
                yield [dict(zip(names, map(str, cells), strict=True)) for cells in zip(*columns, strict=True)]

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        """Read the rows after a header."""
        from app.formats.csv_stream import read_csv

        return read_csv(body, _by_type(options), expected)

    def write(self, predictions: Predictions) -> Iterator[bytes]:
        """Write texts, quoted where necessary; labels and names may be escaped so that they are not formulas."""
        from app.formats.arrow_writing import arrow_table, csv_part, parts_of, without_formulas

        flat = predictions.flat()
        table = without_formulas(arrow_table(flat)) if flat.escapes_formulas else arrow_table(flat)
        return parts_of(table, csv_part, self.end())

    def part(self, table: FlatTable, *, is_first: bool) -> bytes:
        """Return lines, after the header if they are the first."""
        from app.formats.arrow_writing import arrow_table, csv_part, without_formulas

        made = arrow_table(table)
        return csv_part(without_formulas(made) if table.escapes_formulas else made, is_first=is_first)

    def end(self) -> bytes:
        """Return no bytes."""
        return b""


def _by_type(options: ReadOptions) -> ReadOptions:
    by_tabs = options.media_type == TABS and options.delimiter is None
    return replace(options, delimiter="\t") if by_tabs else options
