"""Our own fits, as the service makes them: inputs and targets standardised where a width is searched for."""

from dataclasses import dataclass

import numpy as np

from benchmarks.files import Split
from benchmarks.repeats import Figures
from relevance_bayes.core.basis import KernelBasis, KernelFunctions
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import ClassPrediction, RealPrediction, predict, scores
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array

RAW_HALF = KernelBasis(width=FixedWidth(0.5))
"""The Gaussian kernel with the papers' r = 0.5, for raw inputs."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """values = shift + scale * standardised, column by column."""

    shift: Array
    scale: Array

    @staticmethod
    def of(values: Array) -> "Scaled":
        """Mean 0 and standard deviation 1; a constant column is only shifted."""
        sd = values.std(axis=0)
        return Scaled(np.asarray(values.mean(axis=0)), np.where(sd > 0.0, sd, 1.0))

    def __call__(self, values: Array) -> Array:
        """Standardised."""
        return np.asarray((values - self.shift) / self.scale)


def trained(X: Array, t: Array, spec: Spec) -> Trained:
    """The end of a training."""
    *_, last = train(Rows(X, t), Selection(spec))
    assert isinstance(last, Trained)
    return last


def vectors(model: Model) -> int:
    """Functions that are centred on a training row: all but the bias."""
    return sum(kept.size for kept in model.functions if isinstance(kept, KernelFunctions))


def width(found: Trained) -> float:
    """The width that was found, in units of the inputs as fitted."""
    (basis,) = (basis for basis in found.spec.basis if isinstance(basis, KernelBasis))
    if not isinstance(basis.width, FixedWidth):
        return float("nan")
    (width,) = basis.width.each
    return width


def regression(split: Split, spec: Spec | None = None) -> Figures:
    """Defaults or another spec: RMSE of the mean to the targets measured on, the truth where the generator knows it."""
    inputs, target = Scaled.of(split.X), Scaled.of(split.t)
    found = trained(inputs(split.X), target(split.t), spec or Spec(GaussianNoise()))
    prediction = predict(found.model, inputs(split.X_test))
    assert isinstance(prediction, RealPrediction)
    residual = split.t_test - (target.shift + target.scale * prediction.mean)
    noise_sd = float(target.scale) * (found.model.noise_sd or 0.0)
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "vectors": float(vectors(found.model)),
        "functions": float(len(found.model.mean)),
        "noise_sd": noise_sd,
    }


def classification(split: Split, spec: Spec | None = None, *, scaled: bool = True) -> Figures:
    """Defaults or another spec: error and log loss on the rows measured on; inputs as they are where not `scaled`."""
    X, X_test = split.X, split.X_test
    if scaled:
        inputs = Scaled.of(X)
        X, X_test = inputs(X), inputs(X_test)
    found = trained(X, split.t, spec or Spec(Bernoulli()))
    prediction = predict(found.model, X_test)
    assert isinstance(prediction, ClassPrediction)
    kept = {"vectors": float(vectors(found.model)), "functions": float(len(found.model.mean)), "width": width(found)}
    return scores(prediction, split.t_test) | kept
