"""The likelihoods that go with a task and with the values of a target."""

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
"""The likelihoods that go with each task."""

MAX_CLASSES_WITH_MODELS = 10
"""Up to so many classes each has a model of its own; ..."""

MAX_COUPLED_CELLS = 12_000
"""... more are learned together while rows times classes are at most so many, and else each against the rest: a step of
K classes together costs K times as much, and 26 letters were not learned as well (log loss .74 against .37)."""

MIN_DOF, MAX_DOF = 2.0, 200.0
"""Degrees of freedom lie above the one, where the variance is finite, and not above the other, where noise is as good
as Gaussian."""


def is_for(likelihood: TargetLikelihood, task: Task) -> bool:
    """Return whether a likelihood goes with a task."""
    return isinstance(likelihood, LIKELIHOODS[task])


def chosen_likelihood(
    requested: TargetLikelihood | None, task: Task, *, classes: int, rows: int, process: bool
) -> TargetLikelihood:
    """The requested one, of as many classes as the target has where that is left open; else the task's default.

    `process` says whether there is a Gaussian process, and not independent weights, which classes then share.
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
    """Return what the task, the values of the target, its number of classes, or float64 have against a likelihood."""
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
            detail = f"`{target.name}` has {classes} classes, got {learned}; without `classes` they are counted."
            yield Fault(detail, "/likelihood/classes", column=target.name)
        case _:
            pass


def is_near(noise_sd: float, scale: float) -> bool:
    """Return whether a noise sd in units of the targets' scale can be squared."""
    return 1.0 / MAX_SCALED <= noise_sd / scale <= MAX_SCALED


def too_far(noise_sd: float, target: str, scale: float) -> str:
    """The sentence for one that can't."""
    return f"A noise sd of {noise_sd:g} is too far from that of `{target}`, {scale:g}, to be computed with."


def _temperature_faults(likelihood: TargetLikelihood) -> Iterator[Fault]:
    """A temperature out of bounds."""
    if not isinstance(likelihood, ClassLikelihood) or likelihood.temperature == "learned":
        return
    if not MIN_TEMPERATURE <= likelihood.temperature <= MAX_TEMPERATURE:
        bounds = f"from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}"
        detail = f"`temperature` must be {bounds}, got {likelihood.temperature:g}."
        yield Fault(detail, "/likelihood/temperature")


def _unfit(likelihood: TargetLikelihood, target: ColumnSummary) -> str | None:
    """Why a target is not what the likelihood is of, and what to use in place of that."""
    match likelihood.targets:
        case "count":
            return _no_counts(target)
        case "positive":
            return _no_logarithms(target)
        case _:
            return None


def _no_counts(target: ColumnSummary) -> str | None:
    """Why a target is no count, and what to use in place of that."""
    least, most = _range(target)
    if least < 0:
        return f'`{target.name}` goes down to {least:g}, and counts begin at 0; use "gaussian" or "student_t".'
    if not target.integral:
        others = '"log_gaussian" or "gaussian"' if least > 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` holds fractions, from {least:g} to {most:g}, and counts are whole; use {others}."
    return None


def _no_logarithms(target: ColumnSummary) -> str | None:
    """Why a target has no logarithms to compute with, and what to use in place of them."""
    least, most = _range(target)
    if least <= 0:
        others = '"poisson" or "gaussian"' if target.integral and least == 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` goes down to {least:g}, and only numbers above 0 have a logarithm; use {others}."
    if most / least > MAX_SCALED:
        return f"`{target.name}` goes from {least:g} to {most:g}, too far to be computed with."
    return None


def _range(target: ColumnSummary) -> tuple[float, float]:
    if target.minimum is None or target.maximum is None:
        raise ValueError(f"column {target.name!r} has values but no range")
    return target.minimum, target.maximum
