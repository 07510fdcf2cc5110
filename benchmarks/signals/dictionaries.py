"""Which functions are offered for a signal, and our own fit with them."""

from dataclasses import dataclass
from time import process_time

import numpy as np

from benchmarks.files import Split
from benchmarks.generators import Signal
from relevance_bayes.core.basis import Basis, Bias, KernelBasis
from relevance_bayes.core.dictionaries import BSplines, Gabor, Steps
from relevance_bayes.core.kernels import Gaussian, Laplacian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array

FOUR_WIDTHS = tuple(KernelBasis(Gaussian(), FixedWidth(width)) for width in (0.01, 0.03, 0.1, 0.3))
"""Gaussians of four widths on each row, over inputs from 0 to 1."""

NARROW = tuple(KernelBasis(Laplacian(), FixedWidth(width)) for width in (0.005, 0.02))

OWN: dict[Signal, tuple[Basis, ...]] = {
    "blocks": (Steps(), Bias()),
    "bumps": (*NARROW, Bias()),
    "heavisine": (Steps(), BSplines(), Bias()),
    "doppler": (Gabor(), Bias()),
}
"""The functions that fit the known kind of the signal."""

MIXED: tuple[Basis, ...] = (Steps(), BSplines(), *NARROW, Bias())
"""The functions for any signal."""


@dataclass(frozen=True, eq=False)
class Denoised:
    """An engine's estimate of a signal at its own moments: `mean` (N,), the predictive `sd` (N,) where it gives one.

    `functions` it keeps, and `seconds` of CPU.
    """

    mean: Array
    sd: Array | None
    functions: int
    seconds: float

    def rmse(self, truth: Array) -> float:
        """The distance to the truth (N,)."""
        return float(np.sqrt(np.mean((self.mean - truth) ** 2)))


def ours(split: Split, basis: tuple[Basis, ...], *, price: bool = True, noise_sd: float | None = None) -> Denoised:
    """One fit, raw inputs and targets, the noise learned or known."""
    likelihood = GaussianNoise() if noise_sd is None else GaussianNoise(noise_sd)
    start = process_time()
    model = fit(split.X, split.t, Spec(likelihood, basis, Independent(price=price)))
    seconds = process_time() - start
    return predicted(model, split.X_test, seconds)


def predicted(model: Model, X: Array, seconds: float) -> Denoised:
    """The predictions of a model at X (N, d)."""
    prediction = predict(model, X)
    assert isinstance(prediction, RealPrediction)
    return Denoised(prediction.mean, np.sqrt(prediction.variance), len(model.mean), seconds)
