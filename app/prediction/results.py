"""The result files of batch predictions, in pieces: transactions are short, and an attempt can be resumed."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.records.jobs import Resumption

Layer = Literal["rows", "file"]
"""The layers of a stored result: the file itself, or before it the rows of which it is made once they are all there."""

MAX_BYTES_OF_A_PIECE = 2**20


@dataclass(frozen=True)
class ResultProgress:
    """The progress of a result: `rows` are written, of which `faulty` could not be predicted for, in `size` bytes.

    `averaged` of them have unknown categories. `whole`: the file is, and `size` is that of the file.
    """

    rows: int = 0
    faulty: int = 0
    size: int = 0
    whole: bool = False
    averaged: int = 0


@dataclass(frozen=True)
class KeptResult:
    """A stored result; `resumption` is the attempt that wrote it, `by` the program."""

    reached: ResultProgress
    by: str
    resumption: Resumption


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive bytes of a layer, from number `first` on."""

    first: int
    content: bytes
