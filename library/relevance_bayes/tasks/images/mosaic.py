"""All tiles of an image, and its residual: the next move is that of the greatest gain in any tile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

from relevance_bayes.core.algorithms.state import FREE, Price
from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tasks.images.columns import Level, SparseColumns, Window
from relevance_bayes.tasks.images.tiles import Tile, TileMove


@dataclass(frozen=True, eq=False)
class _TileState:
    """The candidates in the model of one tile, in their order, and their precisions and means."""

    active: tuple[int, ...]
    alpha: Array
    mean: Array


@dataclass(frozen=True, eq=False)
class _MosaicState:
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
    def tiles(self) -> Iterator[_TileState]:
        """Tile by tile."""
        first = 0
        for count in self.counts.astype(np.intp).tolist():
            part = slice(first, first + count)
            yield _TileState(tuple(self.active[part].astype(np.intp).tolist()), self.alpha[part], self.mean[part])
            first += count


@dataclass(frozen=True, eq=False)
class EncodingCheckpoint:
    """A checkpoint of an encoding after so many `moves`, in its forward or backward phase number `stage`, with the
    errors so far."""

    stage: int
    moves: int
    state: _MosaicState
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
        state = _MosaicState(beta, constant, counts, active, alpha, mean, gains.reshape(3, T))
        return cls(int(stage), int(moves), state, {int(number): error for number, error in errors.items()})


MIN_GAIN = 1e-2
"""The least gain of a move in nats."""

STAY_SHARE = 0.8
"""The next move is in the last tile while its gain is at least this share of the greatest estimated gain of stale
tiles, and more than that of adjacent tiles, which may explain the same better. To update all tiles of .7 of the
greatest gain takes three times as long, with the same error of 300 functions of a photograph."""

MIN_CHANGE = 0.02
"""Changes below this share of the root mean square of the residual don't make a tile stale."""

ENTERS_LEAVES_MOVES: tuple[Callable[[Tile], TileMove], ...] = (
    lambda tile: tile.strongest,
    lambda tile: tile.weakest,
    lambda tile: tile.retuned,
)

ENTERS = 0
"""The index of the first of them."""

UNKNOWN = float(np.finfo(np.float64).max)
"""The gain of a tile before it is evaluated."""

MOVES_PER_REBUILT_FUNCTION = 3
"""The cost of a move over that of rebuilding one function of a tile, in Fourier transforms about 4 to 1."""

JOINT_TOLERANCE = 1e-10
MAX_JOINT_ITERATIONS = 200


class Mosaic:
    """Tiles over an image (H, W) less its mean, changed in place, since a copy costs more than a move.

    `left` is the residual of the image, padded with zeros for the margins of the tiles; `functions` the number of
    wavelets in the model and the constant.
    """

    def __init__(self, image: Array, levels: tuple[Level, ...], beta: float) -> None:
        self.window = Window(0, 0, *image.shape)
        self.levels = levels
        self.beta = beta
        self.constant = float(image.mean())
        self._around = max(level.margin + level.inner for level in levels)
        self.left = np.pad(image - self.constant, self._around)
        self.tiles = [
            Tile.empty(level, top, left, self.window, beta)
            for level in levels
            for top in range(0, image.shape[0], level.inner)
            for left in range(0, image.shape[1], level.inner)
        ]
        self.functions = 1
        self.candidates = sum(tile.size for tile in self.tiles) + 1
        self.price = FREE
        self._corners = np.array([(t.window.top, t.window.left, t.window.bottom, t.window.right) for t in self.tiles])
        self._last = 0
        self._stale = np.ones(len(self.tiles), np.bool_)
        self._gains = np.full((len(ENTERS_LEAVES_MOVES), len(self.tiles)), UNKNOWN)
        self._mixed = np.zeros(len(self.tiles), np.bool_)
        self._moves = 0

    @classmethod
    def rebuilt(cls, image: Array, levels: tuple[Level, ...], state: _MosaicState) -> "Mosaic":
        """The mosaic of a checkpoint."""
        made = cls(image, levels, state.beta)
        made._fill(state)
        made.constant, made._gains = state.constant, state.gains.copy()
        made._recompute_residual(image)
        return made

    def is_checkpoint_due(self, moves: int) -> bool:
        """True where so many moves were made since the last checkpoint, and more than a checkpoint costs."""
        n_rebuilt = sum(len(self.tiles[number].active) for number in np.flatnonzero(self._mixed))
        return self._moves >= max(moves, MOVES_PER_REBUILT_FUNCTION * n_rebuilt)

    def checkpoint(self, image: Array) -> _MosaicState:
        """The state of the mosaic, from which all else is recomputed, here too, with the image (height, width).

        Tiles with other moves than additions are rebuilt, so that the rounding of S is that of a resumed encoding.
        """
        for number in np.flatnonzero(self._mixed):
            tile = self.tiles[number]
            self.tiles[number] = tile.rebuilt(tile.active, tile.posterior.alpha, tile.posterior.mean)
        self._mixed[:] = False
        self._moves = 0
        self._recompute_residual(image)
        return self._state

    @property
    def _state(self) -> _MosaicState:
        counts = np.array([len(tile.active) for tile in self.tiles], np.float64)
        active = np.array([number for tile in self.tiles for number in tile.active], np.float64)
        return _MosaicState(self.beta, self.constant, counts, active, self.alpha, self.weights, self._gains.copy())

    def _fill(self, state: _MosaicState) -> None:
        """Rebuild the tiles from a state."""
        for number, one in enumerate(state.tiles):
            if one.active:
                self.tiles[number] = self.tiles[number].rebuilt(one.active, one.alpha, one.mean)
        self.functions = len(state.active) + 1

    def _recompute_residual(self, image: Array) -> None:
        """Recompute the residual of the image under the functions' means; every tile is stale then."""
        self.left = np.pad(image - self.constant, self._around)
        for tile in self.tiles:
            if tile.active:
                self._seen(tile)[...] -= tile.columns.sum(tile.posterior.mean).reshape(tile.level.side, tile.level.side)
        self._stale[:] = True

    @property
    def error(self) -> float:
        """The root mean square of the residual."""
        return sqrt(float(np.vdot(self.left, self.left)) / self.window.size)

    @property
    def wavelets(self) -> GaborFunctions:
        """The wavelets in the model, tile by tile."""
        every = [tile.functions for tile in self.tiles]
        return GaborFunctions(
            np.concatenate([one.centres for one in every]),
            np.concatenate([one.spans for one in every]),
            np.concatenate([one.frequencies for one in every]),
            np.concatenate([one.phases for one in every]),
        )

    @property
    def weights(self) -> Array:
        """Their means (R,)."""
        return np.concatenate([tile.posterior.mean for tile in self.tiles])

    @property
    def sds(self) -> Array:
        """Their sds (R,), given all other tiles' functions."""
        return np.asarray(np.sqrt(np.concatenate([tile.posterior.covariance.diagonal() for tile in self.tiles])))

    @property
    def alpha(self) -> Array:
        """The precisions of their priors (R,)."""
        return np.concatenate([tile.posterior.alpha for tile in self.tiles])

    @property
    def determined(self) -> float:
        """The sum of gamma, including 1 for the constant."""
        return 1.0 + sum(float(tile.posterior.determined.sum()) for tile in self.tiles)

    def begin(self, price: Price) -> None:
        """Set the price of functions."""
        self.price = price

    def move(self) -> bool:
        """Make the move of the greatest gain; return whether there was one.

        A stale tile, in whose margins other tiles have changed, is updated first; until its estimated gain is the
        greatest, the last one is used.
        """
        while True:
            gains = self._paid()
            best = gains.max(axis=0)
            number = int(best.argmax())
            if self._shifted(max(float(best[number]), MIN_GAIN)):
                continue
            if best[number] < MIN_GAIN:
                return False
            number = self._next(best, number)
            tile = self.tiles[number]
            if self._stale[number]:
                self._put(number, *tile.updated(self._seen(tile)))
                continue
            kind = int(gains[:, number].argmax())
            self._moves += 1
            self._mixed[number] |= kind != ENTERS
            self._put(number, *tile.made(ENTERS_LEAVES_MOVES[kind](tile), self._seen(tile)))
            return True

    def _next(self, best: Array, number: int) -> int:
        """The tile to update or to move in, where `number` has the greatest estimated gain."""
        last = self._last
        if not self._stale[number] or self._stale[last] or best[last] < max(STAY_SHARE * best[number], MIN_GAIN):
            return number
        apart = np.abs(self._corners - self._corners[last]).max(axis=1)
        beside = np.where((apart <= self.tiles[last].level.inner) & (best > best[last]), best, -np.inf)
        return int(beside.argmax()) if beside.max() > -np.inf else last

    def _shifted(self, min_gain: float) -> bool:
        """Set the constant to its best value given all else, where that gains more than `min_gain` nats."""
        offset = float(self.left.sum()) / self.window.size
        if 0.5 * self.beta * self.window.size * offset**2 <= min_gain:
            return False
        self._image_left = self._image_left - offset
        self.constant += offset
        self._stale[:] = True
        return True

    def _paid(self) -> Array:
        """The gain of the best move of each kind in each tile, less its price or plus its refund: (3, tiles)."""
        chosen = self.functions - 1
        entry = self.price.entry(chosen) if self.price.is_adding else np.inf
        refund = self.price.refund(chosen) if chosen else 0.0
        return np.asarray(self._gains + np.array([[-entry], [refund], [0.0]]))

    def _put(self, number: int, tile: Tile, rise: Array) -> None:
        self.functions += len(tile.active) - len(self.tiles[number].active)
        self.tiles[number], self._last = tile, number
        self._seen(tile)[...] -= rise
        self._gains[:, number] = [one(tile).gain for one in ENTERS_LEAVES_MOVES]
        moved = np.abs(rise) > MIN_CHANGE * self.error
        if moved.any():
            self._mark_stale(tile, moved)
        self._stale[number] = False

    def _mark_stale(self, tile: Tile, moved: Mask) -> None:
        """Mark the tiles stale that contain a changed pixel."""
        rows = np.flatnonzero(moved.any(axis=1)) + tile.window.top
        columns = np.flatnonzero(moved.any(axis=0)) + tile.window.left
        top, left, bottom, right = self._corners.T
        self._stale |= (top <= rows[-1]) & (bottom > rows[0]) & (left <= columns[-1]) & (right > columns[0])

    def _seen(self, tile: Tile) -> Array:
        top, left = tile.window.top + self._around, tile.window.left + self._around
        return self.left[top : top + tile.window.height, left : left + tile.window.width]

    def with_noise(self, image: Array, beta: float) -> "Mosaic":
        """The same functions of the image (height, width) under another noise precision.

        S of each tile is recomputed, then all means together.
        """
        other = Mosaic(image, self.levels, beta)
        other._fill(self._state)
        other.constant = self.constant
        other._recompute_residual(image)
        other.join()
        return other

    def join(self) -> None:
        """Solve for the means of all functions of all tiles and the constant together: (A + beta P'P) m = beta P't."""
        R, alpha = self.functions - 1, self.alpha
        if not R:
            return
        P = SparseColumns.of(self.wavelets, self.window, self.window)
        y = self._image_left

        def applied(both: Array) -> Array:
            fit = P.sum(both[:R]) + both[R]
            return np.append(P.products(fit) + alpha / self.beta * both[:R], fit.sum())

        before = np.append(self.weights, self.constant)
        missing = np.append(P.products(y) - alpha / self.beta * before[:R], y.sum())
        sizes = np.append(P.squares + alpha / self.beta, float(self.window.size))
        root = 1.0 / np.sqrt(sizes)
        operator = scipy.sparse.linalg.LinearOperator(
            (R + 1, R + 1), matvec=lambda v: root * applied(root * v), dtype=np.float64
        )
        found, _ = scipy.sparse.linalg.cg(operator, root * missing, rtol=JOINT_TOLERANCE, maxiter=MAX_JOINT_ITERATIONS)
        change = root * np.asarray(found, np.float64)
        self._image_left = y - P.sum(change[:R]) - change[R]
        self.constant += float(change[R])
        first = 0
        for number, tile in enumerate(self.tiles):
            stop = first + len(tile.active)
            self.tiles[number] = tile.with_means(tile.posterior.mean + change[first:stop])
            first = stop
        self._stale[:] = True
        self._gains[:] = UNKNOWN

    @property
    def _image_left(self) -> Array:
        a = self._around
        return self.left[a : a + self.window.height, a : a + self.window.width].ravel()

    @_image_left.setter
    def _image_left(self, values: Array) -> None:
        a, shape = self._around, (self.window.height, self.window.width)
        self.left[a : a + shape[0], a : a + shape[1]] = values.reshape(shape)
