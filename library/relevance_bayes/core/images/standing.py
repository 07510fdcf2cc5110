"""Where an encoding rests: so little that it can be kept, and enough to end with the same code."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class InTile:
    """The candidates in the model of one tile, in the order in which they stand, and their precisions and means."""

    active: tuple[int, ...]
    alpha: Array
    mean: Array


@dataclass(frozen=True, eq=False)
class Standing:
    """The functions of a mosaic of T tiles under noise of precision `beta`, beside a `constant`.

    `counts` (T,) of each tile's functions; `active` (R,) their numbers there, one tile after the other, `alpha` and
    `mean` (R,); what the tiles' moves are thought to gain, `gains` (3, T).
    """

    beta: float
    constant: float
    counts: Array
    active: Array
    alpha: Array
    mean: Array
    gains: Array

    @property
    def tiles(self) -> Iterator[InTile]:
        """Tile by tile."""
        first = 0
        for count in self.counts.astype(np.intp).tolist():
            part = slice(first, first + count)
            yield InTile(tuple(self.active[part].astype(np.intp).tolist()), self.alpha[part], self.mean[part])
            first += count


@dataclass(frozen=True, eq=False)
class Rest:
    """An encoding after so many `moves`, in its forward or backward way number `stage`, with the errors met so far."""

    stage: int
    moves: int
    standing: Standing
    path: dict[int, float]

    @property
    def numbers(self) -> Array:
        """All of it in one row of numbers."""
        now = self.standing
        head = (self.stage, self.moves, now.beta, now.constant, len(now.counts), len(now.active))
        parts = (now.counts, now.active, now.alpha, now.mean, now.gains.ravel(), [*self.path], [*self.path.values()])
        return np.concatenate([head, *parts]).astype(np.float64)

    @classmethod
    def of(cls, numbers: Array) -> "Rest":
        """The same from its `numbers`."""
        stage, moves, beta, constant, tiles, functions = numbers[:6].tolist()
        T, R = int(tiles), int(functions)
        counts, active, alpha, mean, gains, path = np.split(numbers[6:], np.cumsum([T, R, R, R, 3 * T]))
        met = dict(zip(*(half.tolist() for half in np.split(path, 2)), strict=True))
        standing = Standing(beta, constant, counts, active, alpha, mean, gains.reshape(3, T))
        return cls(int(stage), int(moves), standing, {int(number): error for number, error in met.items()})
