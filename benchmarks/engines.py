"""The engines that are timed: the same rows, the same Gaussian width, a bias, one thread."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from app.sparse_bayes.basis import Bias, KernelBasis
from app.sparse_bayes.fitting import fit
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.prediction import latent
from app.sparse_bayes.scales import FixedWidth
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array
from benchmarks.learning import vectors

NOISE_SD = 0.2
WIDTH = 3.0
"""The papers' r: exp(-|x - z|^2 / r^2), so that scikit-learn's gamma is r^-2."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Functions (or support vectors) kept, the bias not counted, and the mean at new points."""

    functions: int
    mean: Callable[[Array], Array]


def relevance(X: Array, t: Array) -> Fitted:
    """The sequential algorithm, noise learned."""
    model = fit(X, t, Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(WIDTH)), Bias())))
    return Fitted(vectors(model), lambda at: latent(model, at).mean)


def fastrvm(X: Array, t: Array) -> Fitted:
    """fastrvm as its documentation has it, noise learned; it makes the kernel matrix itself."""
    from fastrvm import RVR

    model = RVR(kernel="rbf", gamma=WIDTH**-2, fit_intercept=True).fit(X, t)
    return Fitted(int(model.n_relevance_), lambda at: np.asarray(model.predict(at), np.float64))


def libsvm(X: Array, t: Array) -> Fitted:
    """One SVR fit of libsvm: C = 1 on standardised targets, epsilon half the noise, which it is told."""
    from sklearn.svm import SVR

    shift, scale = float(t.mean()), float(t.std())
    model = SVR(kernel="rbf", gamma=WIDTH**-2, C=1.0, epsilon=NOISE_SD / 2.0 / scale).fit(X, (t - shift) / scale)
    return Fitted(len(model.support_), lambda at: shift + scale * np.asarray(model.predict(at), np.float64))


ENGINES: dict[str, Callable[[Array, Array], Fitted]] = {"ours": relevance, "fastrvm": fastrvm, "libsvm SVR": libsvm}
NEEDS = {"ours": "numpy", "fastrvm": "fastrvm", "libsvm SVR": "sklearn"}


def installed(engine: str) -> bool:
    """Whether its package is here."""
    return find_spec(NEEDS[engine]) is not None
