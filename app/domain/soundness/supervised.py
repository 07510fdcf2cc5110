"""What has to go together in a model of numbers or classes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from app.domain.encoding import EncodedTarget
from app.domain.errors import Fault
from app.domain.models import SupervisedPredictor
from app.domain.requests import Task
from app.domain.soundness.columns import column_name_faults, input_faults, is_label
from app.sparse_bayes.basis import KernelFunctions
from app.sparse_bayes.kernels import Additive, Covariance
from app.sparse_bayes.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    LogGaussian,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from app.sparse_bayes.model import Model

ASYMMETRY = 1e-8
"""How far a covariance's halves may lie apart, in standard deviations: as much as rounding leaves."""


def supervised_faults(predictor: SupervisedPredictor, task: Task) -> tuple[Fault, ...]:
    """What does not go together, with its place in a document; its arrays have the sizes that they must have."""
    encoding, model = predictor.encoding, predictor.model
    return (
        *input_faults(encoding, {encoding.target.name, encoding.target.noise_column}),
        *_of_target(encoding.target, task),
        *_of_likelihood(model, encoding.target),
        *_of_prior(model),
        *_of_covariance(model),
    )


def _of_target(target: EncodedTarget, task: Task) -> Iterator[Fault]:
    yield from column_name_faults(target.name, "/target/name")
    if target.noise_column is not None:
        yield from column_name_faults(target.noise_column, "/target/noise_column")
        if target.noise_column == target.name:
            yield Fault("The noise stands in a column of its own.", "/target/noise_column")
    if task == "regression":
        if target.classes or target.kind == "category":
            yield Fault("A number is predicted, and no class.", "/target")
        return
    kinds: dict[str, tuple[type, ...]] = {"boolean": (bool,), "number": (int, float), "category": (str,)}
    apt = kinds.get(target.kind, ())
    labels = target.classes
    if len(labels) < 2 or not all(type(label) in apt for label in labels):
        yield Fault(f"Expected two labels at least, each of them a {target.kind}.", "/target/classes")
    elif not _in_order(labels):
        detail = "Expected different labels in their order: false and true, numbers from below, texts by alphabet"
        yield Fault(f"{detail}.", "/target/classes")
    elif not all(is_label(label) for label in labels if isinstance(label, str)):
        yield Fault("A label holds NUL, or has no end.", "/target/classes")


def _in_order(labels: Sequence[str | int | float | bool]) -> bool:
    texts = [label for label in labels if isinstance(label, str)]
    if texts:
        return all(one < other for one, other in pairwise(texts))
    numbers = [float(label) for label in labels if not isinstance(label, str)]
    return all(one < other for one, other in pairwise(numbers))


def _of_likelihood(model: Model, target: EncodedTarget) -> Iterator[Fault]:
    likelihood, where = model.likelihood, "/model/likelihood"
    match likelihood:
        case Bernoulli():
            fits = len(target.classes) == 2
        case Categorical(classes=classes) | OneAgainstRest(classes=classes):
            fits = len(target.classes) == classes
        case _:
            fits = not target.classes
    if not fits:
        yield Fault(f'"{likelihood.type}" does not go with {len(target.classes)} classes.', where)
    match likelihood:
        case GaussianNoise(noise_sd=float() as sd) if not 0.0 < sd < np.inf:
            yield Fault(f"Noise has an sd above 0, got {sd:g}.", f"{where}/noise_sd")
        case StudentT(dof=float() | int() as dof) if not 2.0 < dof < np.inf:
            yield Fault(f"Degrees of freedom are above 2, got {dof:g}.", f"{where}/dof")
        case OneAgainstRest(sharpness=float() | int() as sharpness) if not 0.0 < sharpness < np.inf:
            yield Fault(f"The sharpness is above 0, got {sharpness:g}.", f"{where}/sharpness")
        case _:
            pass
    noiseless = isinstance(likelihood, Bernoulli | Categorical | Poisson)
    if noiseless != (model.noise_sd is None):
        expected = "has no noise" if noiseless else "has noise, whose sd is missing"
        yield Fault(f'"{likelihood.type}" {expected}.', "/model/noise_sd")
    elif model.noise_sd == 0.0:
        yield Fault("Noise has an sd above 0.", "/model/noise_sd")
    if isinstance(likelihood, LogGaussian) != target.logarithmic:
        yield Fault('The logarithm is learned under "log_gaussian", and there alone.', "/target/logarithmic")
    if likelihood.noise_by_row != (target.noise_column is not None):
        detail = 'A column of noise goes with a `noise_sd` of "rows", and with nothing else.'
        yield Fault(detail, "/target/noise_column")


def _of_prior(model: Model) -> Iterator[Fault]:
    kept = model.augmentation
    if model.amplitude is not None:
        first = model.functions[0] if model.functions else None
        if not isinstance(first, KernelFunctions) or not isinstance(first.kernel, Covariance | Additive):
            yield Fault("Where there is an amplitude, a covariance's functions come first.", "/model/functions")
        if kept is not None:
            yield Fault("Either an amplitude or an augmentation: they go with different priors.", "/model/amplitude")
    if kept is None:
        return
    where = "/model/augmentation"
    if not model.likelihood.conjugate:
        yield Fault("An augmentation goes with Gaussian noise.", where)
    if not isinstance(kept.functions.kernel, Covariance | Additive):
        yield Fault("An augmentation has functions of a covariance.", f"{where}/functions/kernel")
    if (kept.precisions is not None) != model.likelihood.noise_by_row:
        yield Fault("Precisions of rows go with noise by row, and with nothing else.", f"{where}/precisions")


def _of_covariance(model: Model) -> Iterator[Fault]:
    """It is factorised later, which says whether it is positive definite."""
    covariance = model.covariance
    variances = covariance.diagonal()
    if not (variances > 0.0).all():
        yield Fault("Variances are above 0.", "/model/covariance")
        return
    sd = np.sqrt(variances)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(covariance - covariance.T) / np.outer(sd, sd)
    if not (apart <= ASYMMETRY).all():
        yield Fault("A covariance is the same from both sides.", "/model/covariance")
