"""The likelihoods that fit a task and the values of a target."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    ClassLikelihood,
    GaussianNoise,
    NumberTarget,
    OneAgainstRest,
    StudentT,
    TargetLikelihood,
)
from relevance_bayes.core.likelihoods.temperature import MAX_TEMPERATURE, MIN_TEMPERATURE
from relevance_bayes.plans.requests import Task
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.types.errors import Fault

LIKELIHOODS: dict[Task, tuple[type[TargetLikelihood], ...]] = {
    "regression": get_args(NumberTarget),
    "classification": get_args(ClassLikelihood),
}
"""The likelihoods of each task."""

MAX_CLASSES_WITH_MODELS = 10
"""The maximum number of classes with a model each, one against all others; ..."""

MAX_COUPLED_CELLS = 12_000
"""... more have one joint model while rows times classes are at most this number, and else one against all others: an
iteration of K classes together costs K times as much, and 26 letters were not learned as well (log loss .74 against
.37)."""

MIN_DOF, MAX_DOF = 2.0, 200.0
"""The bounds of degrees of freedom: above the lower the variance is finite, near the upper noise is nearly Gaussian."""


def is_for(likelihood: TargetLikelihood, task: Task) -> bool:
    """Return whether a likelihood is for a task."""
    return isinstance(likelihood, LIKELIHOODS[task])


def chosen_likelihood(
    requested: TargetLikelihood | None, task: Task, *, classes: int, rows: int, process: bool
) -> TargetLikelihood:
    """Return the requested likelihood, with the target's number of classes by default; else the task's default.

    With `process` there is a Gaussian process prior, otherwise independent weights, which classes share.
    """
    if (
        isinstance(requested, Categorical | OneAgainstRest | BernoulliPerClass)
        and requested.classes is None
        and classes
    ):
        return replace(requested, classes=classes)
    if requested is not None:
        return requested
    if task == "regression":
        return GaussianNoise()
    if classes <= 2:
        return Bernoulli()
    if classes <= MAX_CLASSES_WITH_MODELS:
        return BernoulliPerClass(classes) if process else Categorical(classes)
    return Categorical(classes) if process and rows * classes <= MAX_COUPLED_CELLS else OneAgainstRest(classes)


def likelihood_faults(likelihood: TargetLikelihood, task: Task, target: ColumnSummary, classes: int) -> Iterator[Fault]:
    """Yield the conflicts of a likelihood with the task, the target's values, its number of classes, or float64."""
    if not is_for(likelihood, task):
        names = [f'"{fitting.type}"' for fitting in LIKELIHOODS[task]]
        fitting = f"{' and '.join([', '.join(names[:-1]), names[-1]])} are" if len(names) > 1 else f"{names[0]} is"
        yield Fault(f'"{likelihood.type}" is not a likelihood for {task}; {fitting}.', "/likelihood/type")
        return
    yield from _temperature_faults(likelihood)
    if (unfit := _unfit(likelihood, target)) is not None:
        yield Fault(unfit, "/likelihood", column=target.name)
    shape = None if isinstance(likelihood, BernoulliPerClass) else likelihood.shape
    given = None if shape is None else shape.of(likelihood)
    if shape is not None and given is not None and not shape.min_value <= given <= shape.max_value:
        detail = f"`{shape.name}` must be from {shape.min_value:g} to {shape.max_value:g}, got {given:g}."
        yield Fault(detail, f"/likelihood/{shape.name}")
    match likelihood:
        case GaussianNoise(noise_sd=float() | int() as noise_sd) if not noise_sd > 0.0:
            yield Fault(f"The noise sd must be above 0, got {noise_sd:g}.", "/likelihood/noise_sd")
        case GaussianNoise(noise_sd=float() | int() as noise_sd) if not is_near(noise_sd, target.sd or 1.0):
            yield Fault(too_far(noise_sd, target.name, target.sd or 1.0), "/likelihood/noise_sd")
        case StudentT(degrees_of_freedom=float() | int() as dof) if not MIN_DOF < dof <= MAX_DOF:
            detail = f"`degrees_of_freedom` must be above {MIN_DOF:g} and at most {MAX_DOF:g}, got {dof:g}."
            yield Fault(detail, "/likelihood/degrees_of_freedom")
        case Bernoulli() if classes > 2:
            others = 'use "bernoulli_per_class" or "categorical"'
            detail = f'"bernoulli" is for two classes, and `{target.name}` has {classes}; {others}.'
            yield Fault(detail, "/likelihood/type", column=target.name)
        case BernoulliPerClass() if classes == 2:
            detail = f'"bernoulli_per_class" is for three classes and more, and `{target.name}` has 2; use "bernoulli".'
            yield Fault(detail, "/likelihood/type", column=target.name)
        case Categorical(classes=learned) | OneAgainstRest(classes=learned) | BernoulliPerClass(classes=learned) if (
            learned != classes
        ):
            detail = f"`{target.name}` has {classes} classes, got {learned}; by default they are counted."
            yield Fault(detail, "/likelihood/classes", column=target.name)
        case _:
            pass


def is_near(noise_sd: float, scale: float) -> bool:
    """Return whether a noise sd in units of the targets' scale can be squared."""
    return 1.0 / MAX_SCALED <= noise_sd / scale <= MAX_SCALED


def too_far(noise_sd: float, target: str, scale: float) -> str:
    """Return the message for one that can't."""
    return f"A noise sd of {noise_sd:g} is too far from that of `{target}`, {scale:g}, for float64."


def _temperature_faults(likelihood: TargetLikelihood) -> Iterator[Fault]:
    """Yield a fault for a temperature out of bounds."""
    if not isinstance(likelihood, ClassLikelihood) or likelihood.temperature == "learned":
        return
    if not MIN_TEMPERATURE <= likelihood.temperature <= MAX_TEMPERATURE:
        bounds = f"from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}"
        detail = f"`temperature` must be {bounds}, got {likelihood.temperature:g}."
        yield Fault(detail, "/likelihood/temperature")


def _unfit(likelihood: TargetLikelihood, target: ColumnSummary) -> str | None:
    """Return why a target does not fit the likelihood, and an alternative; None if it does."""
    match likelihood.targets:
        case "count":
            return _no_counts(target)
        case "positive":
            return _no_logarithms(target)
        case _:
            return None


def _no_counts(target: ColumnSummary) -> str | None:
    """Return why a target is not a count, and an alternative; None if it is."""
    minimum, maximum = _range(target)
    if minimum < 0:
        return f'`{target.name}` goes down to {minimum:g}, and counts begin at 0; use "gaussian" or "student_t".'
    if not target.integral:
        others = '"log_gaussian" or "gaussian"' if minimum > 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` has fractions, from {minimum:g} to {maximum:g}, and counts are integers; use {others}."
    return None


def _no_logarithms(target: ColumnSummary) -> str | None:
    """Return why a target has no logarithms, or too large ones, and an alternative; None if it has."""
    minimum, maximum = _range(target)
    if minimum <= 0:
        others = '"poisson" or "gaussian"' if target.integral and minimum == 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` goes down to {minimum:g}, and only numbers above 0 have a logarithm; use {others}."
    if maximum / minimum > MAX_SCALED:
        return f"`{target.name}` goes from {minimum:g} to {maximum:g}, too wide a range for float64."
    return None


def _range(target: ColumnSummary) -> tuple[float, float]:
    if target.minimum is None or target.maximum is None:
        raise ValueError(f"column {target.name!r} has values but no range")
    return target.minimum, target.maximum
