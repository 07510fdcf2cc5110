"""The columns and limits of rows to predict for, in any format."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from app.errors import TooLargeError
from app.formats.cell_faults import MAX_FAULTS, refuse
from relevance_bayes.records.errors import Fault, InvalidDataError
from relevance_bayes.records.values import ColumnKind, NumberForm
from relevance_bayes.tables.columns import Block

Columns = tuple[tuple[str, ColumnKind], ...]
"""Names and kinds, in the order of a model's inputs."""

MIN_MAX_MEMBERS = 1_000
"""The minimum of `max_members`: such a row is decoded, so that the error lists each wrong name."""


@dataclass(frozen=True)
class Expected:
    """The required `columns`; `noise`, an optional column of numbers, for all rows; optional columns that are
    `not_read`; the maximum number of rows, and the maximum decompressed size; the `forms` of the numbers by which the
    version was trained."""

    columns: Columns
    noise: str | None
    not_read: frozenset[str]
    max_rows: int
    max_bytes: int
    forms: Mapping[str, NumberForm] = field(default_factory=dict)

    def among(self, names: Sequence[str], *, line: int | None = None) -> Columns:
        """Return the columns to read of a table with these; raises InvalidDataError for missing, unknown and repeated
        ones."""
        required = self.columns if self.noise is None or self.noise not in names else self.with_noise
        known, here = {name for name, _ in required} | self.not_read, set(names)
        missing = (Fault("The column is missing.", column=name, line=line) for name, _ in required if name not in here)
        unknown = (Fault("There is no such column.", column=name, line=line) for name in names if name not in known)
        twice = (name for name, count in Counter(names).items() if count > 1 and name in known)
        repeated = (Fault("The column is named twice.", column=name, line=line) for name in twice)
        refuse([*islice(chain(missing, unknown, repeated), MAX_FAULTS)])
        return required

    @property
    def max_members(self) -> int:
        """The number of members above which a row in JSON is refused before it is decoded."""
        return max(MIN_MAX_MEMBERS, 2 * len(self.columns))

    @property
    def with_noise(self) -> Columns:
        """Return the columns, and last that of the noise."""
        return self.columns if self.noise is None else (*self.columns, (self.noise, "number"))

    def check_rows(self, rows: int) -> None:
        """Raise TooLargeError for too many rows."""
        if rows > self.max_rows:
            raise TooLargeError(f"Expected at most {self.max_rows:,} rows, got more; split the request.")

    def check_bytes(self, size: int) -> None:
        """Raise TooLargeError for too many bytes."""
        if size > self.max_bytes:
            detail = f"Expected at most {self.max_bytes:,} bytes once decompressed, got more; split the request."
            raise TooLargeError(detail)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows, and the faults of cells, which are missing in the block.

    `lines` are the numbers of the rows' lines, from 1, in formats with one row a line.
    """

    block: Block
    cell_faults: tuple[Fault, ...]
    lines: tuple[int, ...] = ()


def need_rows(rows: int) -> None:
    """Raise InvalidDataError where there are no rows."""
    if not rows:
        raise InvalidDataError("The table has no rows.")
