"""The model of all applications, taken from a version, and the bodies of their requests."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.prediction import ServedVersion
from benchmarks.serving.plain import PlainModel
from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedNumber
from relevance_bayes.tasks.supervised.prediction import SupervisedModel

INPUTS = ("x1", "x2", "x3", "x4")
OUTPUTS = ("mean", "variance", "interval")


def plain_model(served: ServedVersion) -> PlainModel:
    """The arrays of a version; raises TypeError for a version that is not of this kind."""
    known = served.model
    if not isinstance(known, SupervisedModel) or not isinstance(known.ready, Ready):
        raise TypeError("expected one model")
    lower, whitening = known.ready.root, known.ready.whitening
    if whitening is None:
        raise TypeError("expected a regression under a process")
    encoding, model = known.predictor.encoding, known.predictor.model
    match model.functions:
        case (KernelFunctions() as kernels, ConstantFunction()):
            pass
        case _:
            raise TypeError("expected kernels and a constant")
    encoded = [column for column in encoding.inputs if isinstance(column, EncodedNumber)]
    if sorted(column.name for column in encoded) != sorted(INPUTS):
        raise TypeError(f"expected the inputs {', '.join(INPUTS)}")
    order = sorted(range(len(encoded)), key=lambda place: INPUTS.index(encoded[place].name))
    columns = [encoded[place] for place in order]
    target, noise_sd, signal_variance = encoding.target, model.noise_sd, model.signal_variance
    assert noise_sd is not None
    assert signal_variance is not None
    return PlainModel(
        shift=np.array([column.shift for column in columns]),
        scale=np.array([column.scale for column in columns]),
        width=np.broadcast_to(kernels.input_map.widths, len(order))[order],
        centres=kernels.input_map(kernels.centres)[:, order],
        mean=model.mean,
        lower=lower,
        whitening=np.asarray(np.linalg.inv(whitening.lower).T, np.float64),
        numbers=np.array([noise_sd**2, signal_variance, target.shift, target.scale]),
    )


def table(X: Array) -> Sequence[Mapping[str, float]]:
    """Rows of X (N, d) as JSON has them."""
    return [dict(zip(INPUTS, row, strict=True)) for row in X.tolist()]


def points(number: int) -> Array:
    """Points of the unit cube to predict at, (N, d)."""
    return np.random.default_rng(2027).uniform(0.0, 1.0, (number, len(INPUTS)))
