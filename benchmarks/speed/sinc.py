"""sinc with noise: the same rows, the same Gaussian width and a bias for all, and the ways of meeting candidates."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from benchmarks.accuracy.measuring import FASTRVM, SKLEARN
from benchmarks.files import Split
from benchmarks.generators import sinc_split
from benchmarks.learning import vectors
from benchmarks.speed.racing import Entrant, Fitted, Race, rmse
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.folds import subset
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import latent
from relevance_bayes.core.types import Array

NOISE_SD = 0.2
WIDTH = 3.0
"""The papers' r: exp(-|x - z|^2 / r^2), so that scikit-learn's gamma is r^-2."""

FEW = 500
"""Candidates where they are thinned."""

MAX_COLUMNS = 4_000
"""Rows above which columns of all candidates are made anew for every look, and are too many for a table."""


def noisy(rows: int, draw: int) -> Split:
    """Gaussian noise of sd 0.2; measured on the true function."""
    return sinc_split("gaussian", draw, rows=rows, scale=NOISE_SD)


@dataclass(frozen=True)
class Columns(Gaussian):
    """The same kernel, whose candidates are met by their columns: to no factor of it is anything entrusted."""

    is_positive_definite: ClassVar[bool] = False


@dataclass(frozen=True)
class Counted(Gaussian):
    """The same kernel, which notes how many values every call computes."""

    evaluations: list[int] = field(default_factory=list, compare=False)

    def evaluated(self, squares: Array) -> Array:
        self.evaluations.append(squares.size)
        return super().evaluated(squares)


@dataclass(frozen=True)
class CountedColumns(Counted):
    """Both."""

    is_positive_definite: ClassVar[bool] = False


@dataclass(frozen=True)
class Way:
    """A way of evaluating candidates: of `candidates` rows (None: all), through the kernel's factor or not."""

    name: str
    candidates: int | None
    factor: bool

    def learn(self, split: Split) -> Fitted:
        """By the sequential algorithm, noise learned."""
        return self._learn(split, Gaussian() if self.factor else Columns())

    def evaluations(self, split: Split) -> int:
        """The number of values of the kernel that a fit computes."""
        kernel = Counted() if self.factor else CountedColumns()
        self._learn(split, kernel)
        return sum(kernel.evaluations)

    def _learn(self, split: Split, kernel: Gaussian) -> Fitted:
        centres = None if self.candidates is None else subset(split.X, split.t, self.candidates, 0)
        spec = Spec(GaussianNoise(), (KernelBasis(kernel, FixedWidth(WIDTH)), Bias()))
        model = fit(split.X, split.t, spec, centres=centres)
        return Fitted(vectors(model), lambda at: latent(model, at).mean)


WAYS = (
    Way("all rows, factor", None, factor=True),
    Way("all rows, columns", None, factor=False),
    Way(f"{FEW} rows, factor", FEW, factor=True),
    Way(f"{FEW} rows, columns", FEW, factor=False),
)


def fastrvm(split: Split) -> Fitted:
    """fastrvm as its documentation has it, noise learned; it makes the kernel matrix itself."""
    from fastrvm import RVR

    model = RVR(kernel="rbf", gamma=WIDTH**-2, fit_intercept=True).fit(split.X, split.t)
    return Fitted(int(model.n_relevance_), lambda at: np.asarray(model.predict(at), np.float64))


def libsvm(split: Split) -> Fitted:
    """One SVR fit of libsvm: C = 1 on standardised targets, epsilon half the noise, which is given."""
    from sklearn.svm import SVR

    shift, scale = float(split.t.mean()), float(split.t.std())
    model = SVR(kernel="rbf", gamma=WIDTH**-2, C=1.0, epsilon=NOISE_SD / 2.0 / scale)
    model.fit(split.X, (split.t - shift) / scale)
    return Fitted(len(model.support_), lambda at: shift + scale * np.asarray(model.predict(at), np.float64))


SIZES = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
QUICK_SIZES = (500, 1_000)

SINC = Race(
    "sinc",
    noisy,
    rmse,
    (
        Entrant("ours", WAYS[0].learn),
        Entrant("fastrvm", fastrvm, FASTRVM, 4_000, "it needs the memory of N x N numbers several times over"),
        Entrant("libsvm SVR", libsvm, SKLEARN),
    ),
    SIZES,
    QUICK_SIZES,
)

MEETING = Race(
    "meeting",
    noisy,
    rmse,
    tuple(
        Entrant(way.name, way.learn)
        if way.factor or way.candidates is not None
        else Entrant(way.name, way.learn, None, MAX_COLUMNS, "above, they are made anew for each look")
        for way in WAYS
    ),
    SIZES,
    QUICK_SIZES,
)
