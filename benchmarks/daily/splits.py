"""Rows of a CSV file to learn from and to measure on, as two CSV files, the same for every engine."""

import csv
import hashlib
import io
from dataclasses import dataclass

import numpy as np

from app.formats.csv_stream import open_csv
from app.formats.format import ReadOptions
from app.formats.spool import BodyInMemory
from benchmarks.daily.catalogue import DailyTable
from benchmarks.files import NotRun
from relevance_bayes.core.types import Array
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, CategoryArray, kind_of, taken
from relevance_bayes.tables.encoding import EncodedTarget, encode_target

TEST_SHARE = 0.2
MAX_TRAINING_ROWS = 500
MAX_TEST_ROWS = 500
MAX_COLUMNS = 1_000


@dataclass(frozen=True, eq=False)
class DailySplit:
    """Rows to learn from, with the kinds that an upload infers of them, and rows to measure on, of the same kinds.

    `t` (N,) and `t_test` (n,) are the targets: numbers, or indices of `classes`.
    """

    table: DailyTable
    number: int
    learned: Block
    measured: Block
    classes: tuple[str, ...]
    t: Array
    t_test: Array
    digest: str


def split_of(table: DailyTable, number: int) -> DailySplit:
    """A fifth of the rows to measure on, by a hash of name, split and row; raises NotRun without the file.

    Rows of classes that no row learned from has are not measured on.
    """
    header, *lines = _lines(table)
    order = np.argsort([_hash(table.name, number, row) for row in range(len(lines))], kind="stable")
    tested = round(TEST_SHARE * len(lines))
    chosen = order[tested:][:MAX_TRAINING_ROWS], order[:tested][:MAX_TEST_ROWS]
    texts = [_text([header, *(lines[row] for row in sorted(rows.tolist()))]) for rows in chosen]
    learned = _block(texts[0], {})
    measured = _block(texts[1], {name: kind_of(column) for name, column in learned.items()})
    column = learned[table.target]
    classes = tuple(sorted(set(column.labels))) if isinstance(column, CategoryArray) else ()
    target = EncodedTarget(table.target, kind_of(column), 0.0, 1.0, classes)
    t_test = encode_target(target, measured)
    known = np.flatnonzero(np.isfinite(t_test))
    measured = {name: taken(each, known) for name, each in measured.items()}
    digest = hashlib.sha256("".join(texts).encode()).hexdigest()[:12]
    return DailySplit(table, number, learned, measured, classes, encode_target(target, learned), t_test[known], digest)


def _lines(table: DailyTable) -> list[list[str]]:
    if not table.file.is_file():
        raise NotRun(f"{table.name} was not written: `make tables`")
    with table.file.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def _text(lines: list[list[str]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(lines)
    return written.getvalue()


def _block(text: str, declared: dict[str, ColumnKind]) -> Block:
    """The rows of a CSV file as an upload reads them."""
    stream = open_csv(BodyInMemory(text.encode()), ReadOptions(), declared=declared, max_columns=MAX_COLUMNS)
    (block,) = stream.blocks
    return block


def _hash(name: str, number: int, row: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{name} {number} {row}".encode()).digest()[:8], "little")
