"""The files that batch predictions make: kept in pieces, so that no transaction is long and a start can go on."""

from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from relevance_bayes.types.jobs import Resumption

Layer = Literal["rows", "file"]
"""The layers of a stored result: the file itself, or before it the rows of which it is made once they are all there."""

MAX_BYTES_OF_A_PIECE = 2**20


@dataclass(frozen=True)
class Reached:
    """The progress of a result: `rows` are written, of which `faulty` could not be predicted for, in `size` bytes.

    `whole`: the file is, and `size` is that of the file.
    """

    rows: int = 0
    faulty: int = 0
    size: int = 0
    whole: bool = False


@dataclass(frozen=True)
class BatchPredicted:
    """The result of a batch prediction: a file of `size` bytes with `rows`; `rows_not_predicted` hold no prediction."""

    rows: int
    rows_not_predicted: int
    size: int
    kind: Literal["prediction"] = "prediction"


@dataclass(frozen=True)
class KeptResult:
    """A result where it was found: `resumption` says by which start it came so far, and `by` which program made it."""

    reached: Reached
    by: str
    resumption: Resumption


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive bytes of a layer, from number `first` on."""

    first: int
    content: bytes


class Results(Protocol):
    """Where results are kept. What is written names the attempt that does, and nothing is where that is superseded."""

    def find(self, job_id: UUID) -> KeptResult | None:
        """Return how far it is."""

    def begin(self, job_id: UUID, attempt: int, *, by: str) -> Reached | None:
        """Return how far it is by the same program, or whole: nothing else is gone on with. None where superseded."""

    def put(self, job_id: UUID, attempt: int, layer: Layer, piece: Piece, *, reached: Reached | None = None) -> bool:
        """Keep a piece, and where it is the last one of a part, how far the result is then.

        The job has come further then: starts that died before don't count any more.
        """

    def trim(self, job_id: UUID, attempt: int, layer: Layer, *, size: int) -> bool:
        """Remove some of what begins at byte `size` or behind; whether to call again, in a new transaction."""

    def piece(self, job_id: UUID, layer: Layer, at: int) -> Piece | None:
        """The piece in which byte `at` stands; None behind the last."""

    def forget(self, job_id: UUID) -> bool:
        """Remove some of a result, which is whole no more; whether to call again, in a new transaction."""

    def remove_expired(self, *, older_than: float) -> bool:
        """Forget some of what jobs have made that ended so many seconds ago, or not well; whether to call again."""
