"""Kernel principal components of all rows, by definition, and scikit-learn's, which first move their mean to 0."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.components.cases import Rows
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.components.learning import components
from relevance_bayes.tasks.components.space import Components


def sparse(rows: Rows, explained: float) -> Components:
    """Ours."""
    *_, last = components(rows.learned, Gaussian(), InputMap.isotropic(rows.width), explained=explained)
    assert isinstance(last, Components)
    return last


@dataclass(frozen=True, eq=False)
class FullComponents:
    """Axes sum_n A_nq phi_n of greatest variance of all images about 0."""

    rows: Rows
    A: Array

    @classmethod
    def of(cls, rows: Rows, number: int) -> "FullComponents":
        """The first `number`."""
        values, vectors = np.linalg.eigh(rows.kernel(rows.learned, rows.learned))
        return cls(rows, vectors[:, ::-1][:, :number] / np.sqrt(values[::-1][:number]))

    def project(self, X: Array) -> Array:
        """Components (N, Q) of new rows."""
        return np.asarray(self.rows.kernel(X, self.rows.learned) @ self.A)

    def missed(self, X: Array) -> Array:
        """The share of each image that they don't reach, (N,)."""
        return np.asarray(1.0 - np.square(self.project(X)).sum(axis=1))

    def agreement(self, few: Components) -> float:
        """The mean squared cosine of the angles between the first axes of both, as many as these."""
        turned = self.A.T @ few.project(self.rows.learned)[:, : self.A.shape[1]]
        return float(np.square(turned).sum() / self.A.shape[1])


@dataclass(frozen=True, eq=False)
class Centred:
    """Scikit-learn's KernelPCA: components of images less their mean, and less what is left of those."""

    project: Callable[[Array], Array]
    reached: Callable[[Array], Array]

    @classmethod
    def of(cls, rows: Rows, number: int) -> "Centred":
        """The first `number`; the rest, which detects new rows, is |phi - mean|^2 - |components|^2."""
        from sklearn.decomposition import KernelPCA

        found = KernelPCA(number, kernel="rbf", gamma=rows.width**-2).fit(rows.learned)
        mean_square = float(rows.kernel(rows.learned, rows.learned).mean())

        def reached(X: Array) -> Array:
            apart = 1.0 - 2.0 * rows.kernel(X, rows.learned).mean(axis=1) + mean_square
            return np.asarray(np.square(found.transform(X)).sum(axis=1) - apart)

        return cls(found.transform, reached)
