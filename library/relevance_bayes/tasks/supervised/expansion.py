"""A model of numbers or classes as a sum of Gaussians in the user's units."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, StudentT
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.documents.models import SupervisedPredictor
from relevance_bayes.tables.encoding import EncodedNumber, column_units, columns_of
from relevance_bayes.tasks.prediction import VersionExpansion, no_expansion


def model_expansion(predictor: SupervisedPredictor, inputs: Sequence[str]) -> VersionExpansion:
    """Return the mean of a number, or the latent function of two classes, by `inputs` in their order.

    Raises ConflictError where it is no sum.
    """
    encoding, model = predictor.encoding, predictor.learned
    if isinstance(model, LocalModel):
        raise no_expansion("it predicts from the rows nearest to each")
    if isinstance(model, HurdleModel):
        raise no_expansion("its mean is none under hurdle")
    if not isinstance(model, Model):
        several = 'several models predict together, of numbers with "effort": "normal", else one for each class'
        raise no_expansion(several)
    if not all(isinstance(column, EncodedNumber) and column.width == 1 for column in encoding.inputs):
        raise no_expansion("some inputs are texts, or had gaps")
    if any(isinstance(column, EncodedNumber) and column.unit for column in encoding.inputs):
        raise no_expansion("some inputs count by their logarithms")
    if not isinstance(model.likelihood, GaussianNoise | StudentT | Bernoulli):
        raise no_expansion(f"its mean is none under {model.likelihood.type}")
    shift, scale = np.array(column_units(encoding)).T
    kernels, constant, first = None, encoding.target.shift, 0
    for functions in model.functions:
        weights = model.mean[first : first + functions.size]
        first += functions.size
        match functions:
            case KernelFunctions(kernel=Gaussian(), input_map=bend) if bend.skew is None and bend.tail is None:
                if kernels is not None:
                    raise no_expansion("it has kernels of several widths")
                kernels = functions, weights
            case ConstantFunction():
                constant += encoding.target.scale * float(weights.sum())
            case _:
                raise no_expansion("it has functions other than Gaussians and a bias, or warps its inputs")
    if kernels is None:
        raise no_expansion("it is a constant")
    functions, weights = kernels
    centres = shift + scale * functions.centres
    widths = np.broadcast_to(scale * functions.input_map.widths, centres.shape)
    order = [*chain.from_iterable(columns_of(encoding, inputs))]
    return VersionExpansion(
        tuple(inputs), centres[:, order], np.array(widths[:, order]), encoding.target.scale * weights, constant
    )
