"""Predictions as flat columns, for the formats that have no members within members."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.domain.models import Version
from app.services.prediction.components import ComponentsPrediction
from app.services.prediction.served import Prediction
from app.services.prediction.supervised import ClassificationPrediction, RegressionPrediction
from app.services.prediction.values import ValuePrediction
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import FlatColumn, Labels
from relevance_bayes.types.values import text_of

_REAL = {
    "mean": ("mean",),
    "sd": ("sd",),
    "variance": ("variance_total", "variance_noise", "variance_weights", "variance_residual"),
    "interval": ("lower", "upper"),
    "support": ("support",),
}
"""The columns of each output of numbers."""


def flat_columns(answer: Prediction, outputs: Sequence[str]) -> dict[str, FlatColumn]:
    """The columns by name, in the order of `outputs`, and decisions behind them."""
    return dict(_columns(answer, outputs))


def version_metadata(version: Version) -> dict[str, str]:
    """What a file says of the version that predicted, where its format has room for it."""
    return {"model": version.model, "version": str(version.number)}


def _columns(answer: Prediction, outputs: Sequence[str]) -> Iterator[tuple[str, FlatColumn]]:
    match answer:
        case RegressionPrediction():
            yield from _real(answer, outputs)
        case ClassificationPrediction():
            for output in outputs:
                yield from _class(answer, output)
            if answer.decisions is not None:
                chosen = np.where(answer.decisions.rejected, -1, answer.decisions.chosen)
                yield "decision", Labels(answer.classes, chosen)
                yield "expected_cost", answer.decisions.expected_cost
        case ValuePrediction():
            yield "value", answer.value
        case ComponentsPrediction():
            for output in outputs:
                yield from _component(answer, output)


def real_columns(answer: RegressionPrediction) -> dict[str, Array]:
    """All columns of predicted numbers by name, but for the support, which not every model can tell."""
    return {
        "mean": answer.mean,
        "sd": answer.sd,
        "variance_total": answer.total,
        "variance_noise": answer.noise,
        "variance_weights": answer.weights,
        "variance_residual": answer.beyond,
        "lower": answer.lower,
        "upper": answer.upper,
    }


def _real(answer: RegressionPrediction, outputs: Sequence[str]) -> Iterator[tuple[str, FlatColumn]]:
    support = np.full(len(answer.mean), np.nan) if answer.support is None else answer.support
    told = {**real_columns(answer), "support": support}
    yield from ((name, told[name]) for output in outputs for name in _REAL[output])


def _class(answer: ClassificationPrediction, output: str) -> Iterator[tuple[str, FlatColumn]]:
    rows, names = len(answer.probabilities), [*map(text_of, answer.classes)]
    match output:
        case "label":
            yield "label", Labels(answer.classes, answer.most_probable)
        case "probabilities":
            yield from zip((f"probability_{name}" for name in names), answer.probabilities.T, strict=True)
        case "support":
            yield "support", np.full(rows, np.nan) if answer.support is None else answer.support
        case _:
            if answer.latent_mean.ndim == 1:
                yield "latent_mean", answer.latent_mean
            else:
                yield from zip((f"latent_mean_{name}" for name in names), answer.latent_mean.T, strict=True)
            if answer.latent_variance.ndim == 1:
                yield "latent_variance", answer.latent_variance
            else:
                yield from zip((f"latent_variance_{name}" for name in names), answer.latent_variance.T, strict=True)


def _component(answer: ComponentsPrediction, output: str) -> Iterator[tuple[str, FlatColumn]]:
    match output:
        case "components":
            yield from ((f"component_{place}", one) for place, one in enumerate(answer.components.T, start=1))
        case "reconstruction_error":
            yield output, answer.missed
        case "log_density":
            yield output, answer.log_density
        case _:
            yield output, answer.novelty
