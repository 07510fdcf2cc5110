"""All tiles of an image, and what is left of it: the next move is the one that gains most anywhere."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import scipy

from relevance_bayes.core.algorithms.price import FREE, Price
from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.images.checkpoint import MosaicState
from relevance_bayes.core.images.columns import Columns, Window
from relevance_bayes.core.images.levels import Level
from relevance_bayes.core.images.tiles import Move, Tile
from relevance_bayes.core.types import Array, Mask

MIN_GAIN = 1e-2
"""Nats that a move must bring."""

STAY_SHARE = 0.8
"""A tile goes on while what it gains is so near to what others, that are to be settled first, seem to, and more than
those beside it: these may explain the same better. All settled wherever they seem to gain .7 of it takes three times
as long, and 300 functions of a photograph miss as much."""

MIN_CHANGE = 0.02
"""A tile is not evaluated again for changes below this share of the root mean square of what is left."""

ENTERS_LEAVES_MOVES: tuple[Callable[[Tile], Move], ...] = (
    lambda tile: tile.strongest,
    lambda tile: tile.weakest,
    lambda tile: tile.retuned,
)

ENTERS = 0
"""The place of the first of them."""

UNKNOWN = float(np.finfo(np.float64).max)
"""The gain of a tile before it has been evaluated."""

MOVES_FOR_ONE_MADE_ANEW = 3
"""To make a function of a tile anew costs a transform, and a move some four."""

JOINT_TOLERANCE = 1e-10
MAX_JOINT_ITERATIONS = 200


class Mosaic:
    """Tiles over an image (H, W) less its mean, changed in place: a copy of all for each move would cost more than it.

    `left` is what is left of the image, with zeros around it for the margins of the tiles; `functions` the wavelets in
    the model and the constant.
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
    def rebuilt(cls, image: Array, levels: tuple[Level, ...], state: MosaicState) -> "Mosaic":
        """The mosaic of a checkpoint."""
        made = cls(image, levels, state.beta)
        made._fill(state)
        made.constant, made._gains = state.constant, state.gains.copy()
        made._recompute_residual(image)
        return made

    def is_checkpoint_due(self, moves: int) -> bool:
        """True where so many moves were made since the last checkpoint, and enough to outweigh what one recomputes."""
        anew = sum(len(self.tiles[number].active) for number in np.flatnonzero(self._mixed))
        return self._moves >= max(moves, MOVES_FOR_ONE_MADE_ANEW * anew)

    def checkpoint(self, image: Array) -> MosaicState:
        """The state of the mosaic; all else is recomputed from it, here too.

        S is not, but where functions have done more than enter it would else be what it has become on its way.
        """
        for number in np.flatnonzero(self._mixed):
            tile = self.tiles[number]
            self.tiles[number] = tile.anew(tile.active, tile.posterior.alpha, tile.posterior.mean)
        self._mixed[:] = False
        self._moves = 0
        self._recompute_residual(image)
        return self._state

    @property
    def _state(self) -> MosaicState:
        counts = np.array([len(tile.active) for tile in self.tiles], np.float64)
        active = np.array([number for tile in self.tiles for number in tile.active], np.float64)
        return MosaicState(self.beta, self.constant, counts, active, self.alpha, self.weights, self._gains.copy())

    def _fill(self, state: MosaicState) -> None:
        """Empty tiles with the functions of others."""
        for number, one in enumerate(state.tiles):
            if one.active:
                self.tiles[number] = self.tiles[number].anew(one.active, one.alpha, one.mean)
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
        """The root mean square of what is left."""
        return sqrt(float(np.vdot(self.left, self.left)) / self.window.size)

    @property
    def wavelets(self) -> GaborFunctions:
        """Those in the model, tile by tile."""
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
        """Their sds (R,), all other tiles' functions held."""
        return np.asarray(np.sqrt(np.concatenate([tile.posterior.covariance.diagonal() for tile in self.tiles])))

    @property
    def alpha(self) -> Array:
        """The precisions of their priors (R,)."""
        return np.concatenate([tile.posterior.alpha for tile in self.tiles])

    @property
    def determined(self) -> float:
        """The sum of gamma, the constant's 1 counted."""
        return 1.0 + sum(float(tile.posterior.determined.sum()) for tile in self.tiles)

    def begin(self, price: Price) -> None:
        """Set the price that functions pay from now on."""
        self.price = price

    def move(self) -> bool:
        """Make the move that gains most; whether there was one.

        A tile in whose margins others have moved since is settled first; what it gained before stands for it until it
        seems to be the best.
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
                self._put(number, *tile.settled(self._seen(tile)))
                continue
            kind = int(gains[:, number].argmax())
            self._moves += 1
            self._mixed[number] |= kind != ENTERS
            self._put(number, *tile.made(ENTERS_LEAVES_MOVES[kind](tile), self._seen(tile)))
            return True

    def _next(self, best: Array, number: int) -> int:
        """The tile to settle or to move in, where `number` seems to gain most."""
        last = self._last
        if not self._stale[number] or self._stale[last] or best[last] < max(STAY_SHARE * best[number], MIN_GAIN):
            return number
        apart = np.abs(self._corners - self._corners[last]).max(axis=1)
        beside = np.where((apart <= self.tiles[last].level.inner) & (best > best[last]), best, -np.inf)
        return int(beside.argmax()) if beside.max() > -np.inf else last

    def _shifted(self, min_gain: float) -> bool:
        """The constant becomes what is best for all else as it is, where that gains more than so many nats."""
        offset = float(self.left.sum()) / self.window.size
        if 0.5 * self.beta * self.window.size * offset**2 <= min_gain:
            return False
        self._image_left = self._image_left - offset
        self.constant += offset
        self._stale[:] = True
        return True

    def _paid(self) -> Array:
        """The gain of the best of each kind of move in each tile, the price taken and given back: (3, tiles)."""
        chosen = self.functions - 1
        entry = self.price.entry(chosen) if self.price.adding else np.inf
        refund = self.price.refund(chosen) if chosen else 0.0
        return np.asarray(self._gains + np.array([[-entry], [refund], [0.0]]))

    def _put(self, number: int, tile: Tile, rise: Array) -> None:
        self.functions += len(tile.active) - len(self.tiles[number].active)
        self.tiles[number], self._last = tile, number
        self._seen(tile)[...] -= rise
        self._gains[:, number] = [one(tile).gain for one in ENTERS_LEAVES_MOVES]
        moved = np.abs(rise) > MIN_CHANGE * self.error
        if moved.any():
            self._alert(tile, moved)
        self._stale[number] = False

    def _alert(self, tile: Tile, moved: Mask) -> None:
        """The tiles that see what has moved are stale."""
        rows = np.flatnonzero(moved.any(axis=1)) + tile.window.top
        columns = np.flatnonzero(moved.any(axis=0)) + tile.window.left
        top, left, bottom, right = self._corners.T
        self._stale |= (top <= rows[-1]) & (bottom > rows[0]) & (left <= columns[-1]) & (right > columns[0])

    def _seen(self, tile: Tile) -> Array:
        top, left = tile.window.top + self._around, tile.window.left + self._around
        return self.left[top : top + tile.window.height, left : left + tile.window.width]

    def with_noise(self, image: Array, beta: float) -> "Mosaic":
        """The same functions under another noise precision: S of each tile is made anew, then all means together."""
        other = Mosaic(image, self.levels, beta)
        other._fill(self._state)
        other.constant = self.constant
        other._recompute_residual(image)
        other.join()
        return other

    def join(self) -> None:
        """The means of all functions of all tiles together, and of the constant: (A + beta P'P) m = beta P't."""
        R, alpha = self.functions - 1, self.alpha
        if not R:
            return
        P = Columns.of(self.wavelets, self.window, self.window)
        y = self._image_left

        def applied(both: Array) -> Array:
            fit = P.sum(both[:R]) + both[R]
            return np.append(P.products(fit) + alpha / self.beta * both[:R], fit.sum())

        was = np.append(self.weights, self.constant)
        missing = np.append(P.products(y) - alpha / self.beta * was[:R], y.sum())
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
