"""Effects of texts on the target, by a one-way random effects model [SEARLE1992, MICCI2001].

Row j of text i has the target y_ij = mu + u_i + e_ij, with u_i ~ N(0, tau^2) and e_ij ~ N(0, sigma^2). The encoding of
text i is the best linear unbiased prediction of u_i,

    n_i tau^2/(n_i tau^2 + sigma^2) (mean of y_i - mu),

shrunk towards 0 the more, the fewer its n_i rows. With N rows of K texts, sums of squares within and between texts give
the variances: sigma^2 = SSW/(N - K), tau^2 = max(0, (SSB/(K - 1) - sigma^2)/n_0), n_0 = (N - sum n_i^2/N)/(K - 1). mu
is the generalised least squares mean. A text without rows has the effect 0.
"""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import CategoryColumn

FOLDS = 5
"""The folds of the training rows: a row is encoded by the targets of the other folds."""


MAX_TEXTS = 10_000
"""The most texts whose effects are kept, those with the most rows; others have the effect 0, as unknown ones."""


class EffectStatistics:
    """Counts and sums of the targets of each text in each fold, for J outputs: one number, or one for each class."""

    def __init__(self, outputs: int) -> None:
        self.places: dict[str, int] = {}
        self._counts = np.zeros((FOLDS, 0))
        self._sums = np.zeros((FOLDS, 0, outputs))
        self._squares = np.zeros((FOLDS, outputs))
        self._origin: Array | None = None

    def add(self, column: CategoryColumn, targets: Array, folds: Indices) -> None:
        """Add rows (N,) with these `targets` (N, J), in the folds (N,); rows without a text are left out."""
        present = np.flatnonzero(column.codes >= 0)
        codes, folds, targets = column.codes[present], folds[present], targets[present]
        if not len(codes):
            return
        if self._origin is None:  # near the targets, so that sums of squares keep their digits
            self._origin = targets.mean(axis=0)
        targets = targets - self._origin
        used, within = np.unique(codes, return_inverse=True)
        places = np.array([self.places.setdefault(column.labels[code], len(self.places)) for code in used.tolist()])
        added = len(self.places) - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, added)))
        self._sums = np.pad(self._sums, ((0, 0), (0, added), (0, 0)))
        np.add.at(self._counts, (folds, places[within]), 1.0)
        np.add.at(self._sums, (folds, places[within]), targets)
        np.add.at(self._squares, folds, np.square(targets))

    @property
    def kept(self) -> Indices:
        """Return the places of the texts whose effects are kept, in ascending order."""
        return np.sort(np.argsort(-self._counts.sum(axis=0), kind="stable")[:MAX_TEXTS])

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts whose effects are kept, in the order of their places."""
        every = tuple(self.places)
        return tuple(every[place] for place in self.kept.tolist())

    def effects(self, *, without: int | None = None) -> Array:
        """Return the effect (K, J) of each of all texts, by all folds or without one."""
        kept = [fold for fold in range(FOLDS) if fold != without]
        counts, sums = self._counts[kept].sum(axis=0), self._sums[kept].sum(axis=0)
        return shrunken_effects(counts, sums, self._squares[kept].sum(axis=0))

    def scale(self) -> Array:
        """Return the root mean square (J,) over rows of the effects by all folds; 1 where it is 0."""
        counts = self._counts.sum(axis=0)
        mean_squares = counts @ np.square(self.effects()) / max(counts.sum(), 1.0)
        return np.where(mean_squares > 0.0, np.sqrt(mean_squares), 1.0)


def shrunken_effects(counts: Array, sums: Array, squares: Array) -> Array:
    """Return the predicted effects (K, J) of texts, of whose `counts` (K,) targets these are the `sums` (K, J).

    `squares` (J,) are the sums of the squared targets of all rows.
    """
    found = np.zeros_like(sums)
    seen = counts > 0.0
    n, texts, rows = counts[seen], int(seen.sum()), float(counts.sum())
    if texts < 2 or rows <= texts:
        return found
    means = sums[seen] / n[:, None]
    within = np.maximum(squares - (n[:, None] * np.square(means)).sum(axis=0), 0.0) / (rows - texts)
    between = (n[:, None] * np.square(means - sums.sum(axis=0) / rows)).sum(axis=0) / (texts - 1)
    n_0 = (rows - float(np.square(n).sum()) / rows) / (texts - 1)
    variance = np.maximum(between - within, 0.0) / n_0
    total = variance + within / n[:, None]
    precisions = np.divide(1.0, total, out=np.ones_like(total), where=total > 0.0)
    mean = (precisions * means).sum(axis=0) / precisions.sum(axis=0)
    shares = np.divide(variance, total, out=np.zeros_like(total), where=total > 0.0)
    found[seen] = shares * (means - mean)
    return found


def encoded_effects(statistics: EffectStatistics, *, without: int | None = None) -> tuple[tuple[float, ...], ...]:
    """Return for each of J outputs the effect of each kept text, in units of the root mean square of all."""
    effects = statistics.effects(without=without)[statistics.kept]
    scaled: Sequence[Sequence[float]] = (effects / statistics.scale()).T.tolist()
    return tuple(map(tuple, scaled))
