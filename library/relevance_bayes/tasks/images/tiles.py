"""Sparse Bayesian learning in one tile, given all others: the gains of its functions, and its moves.

S = phi'C^-1 phi and Q = phi'C^-1 t of all candidates are kept up to date [TIPPING2003]: one function changes
them by products with one image, its residual under the functions of the tile. Functions of other tiles are fixed at
their means, as if their weights were independent, which is exact where no functions overlap.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from relevance_bayes.core.algorithms.ascent import evidence_loss
from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.core.inference.evidence import TINY, gain, sparsity_and_quality
from relevance_bayes.core.inference.posterior import Posterior, Sums, posterior
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tasks.images.columns import Level, SparseColumns, Window

SPAN = 1e-4
"""A candidate with less than this share of its square outside the span of those in the tile is excluded, far above the
rounding of S: such a pair has two large weights that cancel."""


@dataclass(frozen=True)
class TileMove:
    """The precision of candidate `number` becomes `alpha`, infinite outside the tile; `gain` in nats."""

    number: int
    alpha: float
    gain: float


NEVER = TileMove(-1, inf, -inf)
"""The move where no other is possible."""


@dataclass(frozen=True, eq=False)
class Tile:
    """The candidates of a `level` whose first inner pixel is (top, left), and those in the model.

    `squares` (M,) of the candidates over the image's pixels, 0 for those centred outside of it; `beta` the noise
    precision; `active` R candidates' numbers, `columns` (pixels of the tile, R) and `gram` P'P; `posterior` their
    posterior; `S` and `Q` (M,).
    """

    level: Level
    window: Window
    image: Window
    squares: Array
    beta: float
    active: tuple[int, ...]
    columns: SparseColumns
    gram: Array
    posterior: Posterior
    S: Array
    Q: Array

    @classmethod
    def empty(cls, level: Level, top: int, left: int, image: Window, beta: float) -> "Tile":
        """A tile without functions, before Q is computed."""
        side = level.side
        window = Window(top - level.margin, left - level.margin, side, side)
        inside = window.with_(image)
        rows = slice(inside.top - window.top, inside.bottom - window.top)
        columns = slice(inside.left - window.left, inside.right - window.left)
        seen = np.zeros((side, side))
        seen[rows, columns] = 1.0
        centres = level.functions.centres + np.array([top, left])
        is_inside = np.asarray((centres < [image.bottom, image.right]).all(axis=1))
        squares = np.where(is_inside, np.maximum(level.squares(seen), 0.0), 0.0)
        none, nothing = SparseColumns.none(side**2), np.empty(0)
        posterior = _posterior(np.empty((0, 0)), nothing, nothing, beta)
        return cls(
            level,
            window,
            image,
            squares,
            beta,
            (),
            none,
            np.empty((0, 0)),
            posterior,
            beta * squares,
            np.zeros(level.size),
        )

    @property
    def size(self) -> int:
        """The number of candidates centred in the image."""
        return int(np.count_nonzero(self.squares))

    @property
    def functions(self) -> GaborFunctions:
        """The functions in the model, in the image's pixels."""
        return self._at(self.active)

    def _at(self, numbers: tuple[int, ...]) -> GaborFunctions:
        margin = self.level.margin
        return self.level.at(np.array(numbers, np.intp), self.window.top + margin, self.window.left + margin)

    def rebuilt(self, active: tuple[int, ...], alpha: Array, mean: Array) -> "Tile":
        """The tile rebuilt from candidates, precisions and means (R,), which enter in their order, before Q is
        computed.

        S has the bits that it has where they entered one by one.
        """
        side, nothing = self.level.side, np.empty(0)
        tile = replace(
            self,
            active=(),
            columns=SparseColumns.none(side**2),
            gram=np.empty((0, 0)),
            posterior=_posterior(np.empty((0, 0)), nothing, nothing, self.beta),
            S=self.beta * self.squares,
            Q=np.zeros(self.level.size),
        )
        for number, precision in zip(active, alpha.tolist(), strict=True):
            tile, _ = tile._entered(TileMove(number, precision, 0.0), np.zeros((side, side)))
        return tile.with_means(mean)

    def updated(self, left: Array) -> tuple["Tile", Array]:
        """The tile with the means and Q that follow from the residual image `left` (side, side); and the change of the
        sum of its functions, (side, side)."""
        posterior = _posterior(self.gram, self.posterior.alpha, self._towards(self.columns, self.gram, left), self.beta)
        rise = self.columns.sum(posterior.mean - self.posterior.mean).reshape(left.shape)
        Q = self.beta * self.level.products(left - rise)
        return replace(self, posterior=posterior, Q=Q), rise

    def with_means(self, mean: Array) -> "Tile":
        """The tile with other means (R,), before Q is updated."""
        return replace(self, posterior=replace(self.posterior, mean=mean))

    def made(self, move: TileMove, left: Array) -> tuple["Tile", Array]:
        """The tile after a move, and the change of the sum of its functions; `left` (side, side) as in `updated`."""
        if move.number not in self.active:
            return self._entered(move, left)
        place = self.active.index(move.number)
        own, mean = float(self.posterior.covariance[place, place]), float(self.posterior.mean[place])
        turned = self._seen(self.columns, self.posterior.covariance[:, place])
        if move.alpha == inf:
            kept = np.delete(np.arange(len(self.active)), place)
            share, columns, gram = 1.0 / own, self.columns.without(place), self.gram[np.ix_(kept, kept)]
            active, alpha = tuple(self.active[k] for k in kept), self.posterior.alpha[kept]
        else:
            rise = move.alpha - float(self.posterior.alpha[place])
            share, columns, gram, active = rise / (1.0 + own * rise), self.columns, self.gram, self.active
            alpha = self.posterior.alpha.copy()
            alpha[place] = move.alpha
        there = self._with(active, columns, gram, alpha, left)
        changed = replace(there, S=self.S + share * turned**2, Q=self.Q + share * mean * turned)
        return changed, changed._rise(self)

    def _entered(self, move: TileMove, left: Array) -> tuple["Tile", Array]:
        own = SparseColumns.of(self._at((move.number,)), self.window, self.image)
        crosses = self.columns.products(own.column(0))
        gram = np.block([[self.gram, crosses[:, None]], [crosses, own.squares]])
        columns, alpha = self.columns.followed(own), np.append(self.posterior.alpha, move.alpha)
        there = self._with((*self.active, move.number), columns, gram, alpha, left)
        turned, share = self._seen(columns, there.posterior.covariance[:, -1]), 1.0 / there.posterior.covariance[-1, -1]
        Q = self.Q - share * there.posterior.mean[-1] * turned
        changed = replace(there, S=np.maximum(self.S - share * turned**2, 0.0), Q=Q)
        return changed, changed._rise(self)

    def _with(self, active: tuple[int, ...], columns: SparseColumns, gram: Array, alpha: Array, left: Array) -> "Tile":
        whole = left + self.columns.sum(self.posterior.mean).reshape(left.shape)
        posterior = _posterior(gram, alpha, columns.products(whole.ravel()), self.beta)
        return replace(self, active=active, columns=columns, gram=gram, posterior=posterior)

    def _rise(self, before: "Tile") -> Array:
        side = self.level.side
        risen = self.columns.sum(self.posterior.mean) - before.columns.sum(before.posterior.mean)
        return risen.reshape(side, side)

    def _towards(self, columns: SparseColumns, gram: Array, left: Array) -> Array:
        """P't (R,), t the residual without these functions."""
        return np.asarray(columns.products(left.ravel()) + gram @ self.posterior.mean)

    def _seen(self, columns: SparseColumns, weights: Array) -> Array:
        """beta Phi'P w (M,)."""
        side = self.level.side
        return self.beta * self.level.products(columns.sum(weights).reshape(side, side))

    @cached_property
    def strongest(self) -> TileMove:
        """The candidate outside the model of the greatest gain, without price."""
        gains = np.where(self._apart, gain(self.S, self.Q), 0.0)
        gains[list(self.active)] = 0.0
        number = int(gains.argmax())
        if gains[number] <= 0.0:
            return NEVER
        s, square = float(self.S[number]), float(self.Q[number]) ** 2
        return TileMove(number, s**2 / (square - s), float(gains[number]))

    @property
    def _apart(self) -> Mask:
        return np.asarray((self.squares > 0.0) & (self.S > SPAN * self.beta * self.squares))

    @cached_property
    def weakest(self) -> TileMove:
        """The removal of the function of the least loss, without refund [FAUL2002, eq. 12]."""
        if not self.active:
            return NEVER
        losses = evidence_loss(self.posterior)
        place = int(losses.argmin())
        return TileMove(self.active[place], inf, -float(losses[place]))

    @cached_property
    def retuned(self) -> TileMove:
        """The best re-estimation: alpha = s^2/(q^2 - s) where q^2 > s [FAUL2002, eq. 17]."""
        s, q = sparsity_and_quality(self.posterior)
        is_relevant = (q**2 > s) & (s > 0.0)
        if not is_relevant.any():
            return NEVER
        gains = np.where(is_relevant, gain(s, q) - evidence_loss(self.posterior), -inf)
        place = int(gains.argmax())
        alpha = float(s[place] ** 2 / max(q[place] ** 2 - s[place], TINY))
        return TileMove(self.active[place], alpha, float(gains[place]))


def _posterior(gram: Array, alpha: Array, towards: Array, beta: float) -> Posterior:
    """Sigma = (A + beta P'P)^-1, mean = beta Sigma P't."""
    nothing = np.zeros(len(alpha))
    return posterior(Sums(0.0, 0.0, 0.0, beta * towards, beta * gram), nothing, alpha)
