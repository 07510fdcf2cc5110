"""Streams of tables, the result of every format: names, kinds, and blocks that are read lazily."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.errors import TooLargeError
from app.formats.cell_faults import refuse, shown
from relevance_bayes.tables.columns import Block, ImageSize, block_rows
from relevance_bayes.types.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.types.values import ColumnKind

MAX_NAME_LENGTH = 200


@dataclass(frozen=True)
class TableStream:
    """A table, or an image as a table, that is being read.

    Iteration over `blocks` reads the file, and raises InvalidDataError or MalformedBodyError where it is invalid.
    """

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    blocks: Iterator[Block]
    image: ImageSize | None = None


def check_names(names: Sequence[str], *, max_columns: int, line: int | None = None) -> None:
    """Raise InvalidDataError for invalid or repeated names, TooLargeError for too many, all on `line`."""
    if not names:
        raise InvalidDataError("The table has no columns.")
    if len(names) > max_columns:
        raise TooLargeError(f"Expected at most {max_columns:,} columns, got {len(names):,}.")
    faults: list[Fault] = []
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            faults.append(Fault(f"Column {position} has no name.", line=line))
        elif len(name) > MAX_NAME_LENGTH:
            faults.append(
                Fault(
                    f"Expected a name of at most {MAX_NAME_LENGTH} characters, got {len(name):,}.",
                    column=name,
                    line=line,
                )
            )
        elif not is_plain(name):
            faults.append(Fault("The name contains a control character.", column=name, line=line))
        elif name in seen:
            faults.append(Fault("The column is named twice.", column=name, line=line))
        seen.add(name)
    refuse(faults)


def is_plain(text: str) -> bool:
    """Return whether a text has no control characters and no line or paragraph separators."""
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)


def kinds_of(
    names: Sequence[str], declared: Mapping[str, ColumnKind], found: Iterable[ColumnKind]
) -> tuple[ColumnKind, ...]:
    """Return the declared kinds, else those found; raises InvalidRequestError for a kind of an unknown column."""
    unknown = sorted(declared.keys() - set(names))
    if unknown:
        raise InvalidRequestError(
            f"A kind is declared for a column that the table does not have: {shown(unknown[0])}.",
            [Fault("There is no such column.", parameter="kinds", column=name) for name in unknown],
        )
    return tuple(declared.get(name, kind) for name, kind in zip(names, found, strict=True))


def within(blocks: Iterator[Block], *, max_rows: int, max_cells: int) -> Iterator[Block]:
    """Yield the blocks; raises TooLargeError where there are more rows or cells than allowed."""
    rows = 0
    for block in blocks:
        rows += block_rows(block)
        if rows > max_rows:
            raise TooLargeError(f"Expected at most {max_rows:,} rows, got more.")
        if rows * len(block) > max_cells:
            raise TooLargeError(f"Expected at most {max_cells:,} cells, got more.")
        yield block
