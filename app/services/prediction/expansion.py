"""A version as a sum of Gaussians in the user's units: what other programs, and an approximation, can take over."""

from dataclasses import dataclass

import numpy as np

from app.domain.errors import ConflictError
from app.services.prediction.components import ComponentsModel
from app.services.prediction.served import ServedVersion
from app.services.prediction.supervised import SupervisedModel
from app.services.prediction.values import ApproximationModel
from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, StudentT
from relevance_bayes.core.model import Model
from relevance_bayes.core.types import Array
from relevance_bayes.documents.models import ApproximationPredictor, SupervisedPredictor
from relevance_bayes.tables.encoding import EncodedNumber, column_names, column_units

ADVICE = 'train with "basis": [{"type": "kernel", "warp": "none"}, {"type": "bias"}] on inputs that are numbers'


@dataclass(frozen=True, eq=False)
class VersionExpansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2), over the named `inputs`.

    `centres` and `widths` (J, d), `weights` (J,).
    """

    inputs: tuple[str, ...]
    centres: Array
    widths: Array
    weights: Array
    constant: float


def expansion_of(served: ServedVersion) -> VersionExpansion:
    """The mean of a number, the latent function's of two classes, or a known function.

    Raises ConflictError where a version is no sum of Gaussians of its inputs, saying why.
    """
    match served.model:
        case ApproximationModel(predictor):
            return _of_terms(predictor)
        case SupervisedModel(predictor):
            return _of_data(predictor)
        case ComponentsModel():
            raise _none("it tells components of rows, and no value")
        case _:
            raise _none("its functions are wavelets")


def _of_terms(predictor: ApproximationPredictor) -> VersionExpansion:
    terms = predictor.expansion
    names = column_names(predictor.encoding)
    return VersionExpansion(names, terms.centres, terms.widths, terms.coefficients, terms.constant)


def _of_data(predictor: SupervisedPredictor) -> VersionExpansion:
    encoding, model = predictor.encoding, predictor.learned
    if not isinstance(model, Model):
        raise _none('several models predict together, of numbers with "effort": "normal", else one for each class')
    if not all(isinstance(column, EncodedNumber) and not column.indicator for column in encoding.inputs):
        raise _none("some inputs are texts, or had gaps")
    if not isinstance(model.likelihood, GaussianNoise | StudentT | Bernoulli):
        raise _none(f"its mean is none under {model.likelihood.type}")
    shift, scale = np.array(column_units(encoding)).T
    kernels, constant, first = None, encoding.target.shift, 0
    for functions in model.functions:
        weights = model.mean[first : first + functions.size]
        first += functions.size
        match functions:
            case KernelFunctions(kernel=Gaussian(), input_map=bend) if bend.skew is None and bend.tail is None:
                if kernels is not None:
                    raise _none("it has kernels of several widths")
                kernels = functions, weights
            case ConstantFunction():
                constant += encoding.target.scale * float(weights.sum())
            case _:
                raise _none("it has functions other than Gaussians and a bias, or bends its inputs")
    if kernels is None:
        raise _none("it is a constant")
    functions, weights = kernels
    centres = shift + scale * functions.centres
    widths = np.broadcast_to(scale * functions.input_map.widths, centres.shape)
    return VersionExpansion(
        column_names(encoding), centres, np.array(widths), encoding.target.scale * weights, constant
    )


def _none(why: str) -> ConflictError:
    return ConflictError(f"The version is no sum of Gaussians of its inputs: {why}; {ADVICE}.")
