"""The checkpoint of an encoding, from which it ends with the same code."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class TileState:
    """The candidates in the model of one tile, in their order, and their precisions and means."""

    active: tuple[int, ...]
    alpha: Array
    mean: Array


@dataclass(frozen=True, eq=False)
class MosaicState:
    """The functions of a mosaic of T tiles under noise of precision `beta`, beside a `constant`.

    `counts` (T,) of each tile's functions; `active` (R,) their numbers there, one tile after the other, `alpha` and
    `mean` (R,); the estimated gains of the tiles' moves, `gains` (3, T).
    """

    beta: float
    constant: float
    counts: Array
    active: Array
    alpha: Array
    mean: Array
    gains: Array

    @property
    def tiles(self) -> Iterator[TileState]:
        """Tile by tile."""
        first = 0
        for count in self.counts.astype(np.intp).tolist():
            part = slice(first, first + count)
            yield TileState(tuple(self.active[part].astype(np.intp).tolist()), self.alpha[part], self.mean[part])
            first += count


@dataclass(frozen=True, eq=False)
class EncodingCheckpoint:
    """A checkpoint of an encoding after so many `moves`, in its forward or backward phase number `stage`, with the
    errors so far."""

    stage: int
    moves: int
    state: MosaicState
    path: dict[int, float]

    @property
    def numbers(self) -> Array:
        """The checkpoint as one row of numbers."""
        now = self.state
        head = (self.stage, self.moves, now.beta, now.constant, len(now.counts), len(now.active))
        parts = (now.counts, now.active, now.alpha, now.mean, now.gains.ravel(), [*self.path], [*self.path.values()])
        return np.concatenate([head, *parts]).astype(np.float64)

    @classmethod
    def of(cls, numbers: Array) -> "EncodingCheckpoint":
        """The same from its `numbers`."""
        stage, moves, beta, constant, tiles, functions = numbers[:6].tolist()
        T, R = int(tiles), int(functions)
        counts, active, alpha, mean, gains, path = np.split(numbers[6:], np.cumsum([T, R, R, R, 3 * T]))
        errors = dict(zip(*(half.tolist() for half in np.split(path, 2)), strict=True))
        state = MosaicState(beta, constant, counts, active, alpha, mean, gains.reshape(3, T))
        return cls(int(stage), int(moves), state, {int(number): error for number, error in errors.items()})
