"""The fit of classes, by one model or one for each class, and its temperature by folds of the weights."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.algorithms.task import Task, process_of
from relevance_bayes.core.errors import NotPositiveDefiniteError, OneClassError
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, ClassLikelihood
from relevance_bayes.core.likelihoods.base import Latent
from relevance_bayes.core.likelihoods.temperature import fitted_temperature
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass, constant_latent, without_functions
from relevance_bayes.core.pool import LearnedModel, at_temperature, likelihood_of, members_of
from relevance_bayes.core.prediction import with_temperature
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import Problem, check_rows
from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.selection.ranking import FitContext, fitted_to, posed
from relevance_bayes.core.softmax_regression import is_softmax_regression, softmax_regression
from relevance_bayes.core.spec import Spec

MAX_ROWS = 2_000
"""The most rows, drawn by content, to which a temperature is fitted."""

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Fit:
    """The end of the fit of a model: its problem, and the last iterate."""

    problem: Problem
    last: Iterate


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A model of classes before its temperature is learned, with the fits (1,) or (K,) of its members.

    `specs` are those of the members, with the widths found. A fit is None where a class has a constant probability, and
    of a softmax regression.
    """

    model: LearnedModel
    specs: tuple[Spec, ...]
    fits: tuple[Fit | None, ...]


def binary_problems(rows: Rows, spec: Spec) -> list[tuple[Rows, Spec]]:
    """The rows and the spec of each model: of all classes, or under `BernoulliPerClass` of each class against all
    others."""
    if not isinstance(spec.likelihood, BernoulliPerClass):
        return [(rows, spec)]
    single = replace(spec, likelihood=spec.likelihood.member)
    classes = range(spec.likelihood.latents)
    return [(rows.with_targets((rows.t == number).astype(np.float64)), single) for number in classes]


def is_constant(rows: Rows, spec: Spec) -> bool:
    """True where the rows of a model of two classes are of one alone."""
    return isinstance(spec.likelihood, Bernoulli) and bool((rows.t == rows.t[0]).all())


def fitted_classes(
    rows: Rows, spec: Spec, begin: Sequence[State | None] = (), *, folding: Folding, on: FitContext
) -> Generator[Step, None, FittedClasses]:
    """Fit classes t (N,) at temperature 1, each model from its state in `begin` where there are any.

    A class that has no row, or all, and one whose matrices are not positive definite in floating point, has a constant
    probability: see `without_functions`. Raises DataError, OneClassError where all rows are of one class, and
    NotPositiveDefiniteError where a single model can't be fitted.
    """
    if is_softmax_regression(spec):
        _, problem = yield from posed(rows, spec, folding, on)
        return FittedClasses((yield from softmax_regression(problem)), (spec,), (None,))
    likelihood = spec.likelihood
    states = iter(begin or [None] * likelihood.latents)
    if not isinstance(likelihood, BernoulliPerClass):
        found = yield from fitted_to(rows, spec, folding, on, begin=next(states))
        return FittedClasses(found.model, (found.spec,), (Fit(found.problem, found.last),))
    check_rows(rows.X, rows.t, rows.noise_sd)
    likelihood.check(rows.t)
    members, specs, fits = list[Model](), list[Spec](), list[Fit | None]()
    for number, ((of_class, single), state) in enumerate(zip(binary_problems(rows, spec), states, strict=True)):
        yield Step("classes", number, likelihood.latents, "models")
        fit: Fit | None = None
        try:
            found = yield from fitted_to(of_class, single, folding, on, begin=state)
            model, run, fit = found.model, found.spec, Fit(found.problem, found.last)
        except (OneClassError, NotPositiveDefiniteError):
            model, run = without_functions(rows.X.shape[1], of_class.t, candidates=len(rows.t)), single
        members.append(model)
        specs.append(run)
        fits.append(fit)
    yield Step("classes", likelihood.latents, likelihood.latents, "models")
    return FittedClasses(PerClass(tuple(members), likelihood), tuple(specs), tuple(fits))


def learns_temperature(spec: Spec) -> bool:
    """True where a spec is of classes whose temperature is learned."""
    return isinstance(spec.likelihood, ClassLikelihood) and spec.likelihood.temperature == "learned"


def at_learned_temperature(
    found: FittedClasses, rows: Rows, folding: Folding, spec: Spec, temperature: float | None = None
) -> LearnedModel:
    """The model at its temperature: that of whole folds where it is known, else that of folds of its weights."""
    model = found.model
    if not learns_temperature(spec):
        return model
    if isinstance(model, Model) and model.likelihood.is_conjugate and temperature is None:
        return with_temperature(model, rows)
    if temperature is None:
        temperature = _temperature_of_weights(found, rows, folding, spec.seed)
    return model if temperature is None else at_temperature(model, temperature)


def _temperature_of_weights(found: FittedClasses, rows: Rows, folding: Folding, seed: int) -> float | None:
    """The temperature of folds whose rows are held out from the weights alone; None without a process or a fold.

    Functions and scales are those of all rows, so that the probabilities are a few percent too certain: the temperature
    is within 5 % of that of whole folds where all inputs have one width.
    """
    some = subset(rows.X, rows.t, MAX_ROWS, seed)
    splits = [
        (some[others], some[fold])
        for others, fold in folding.take(some).splits(rows.take(some), FOLDS, seed)
        if len(fold) and len(np.unique(rows.t[some[others]])) > 1
    ]
    if not splits or not any(fit is not None and isinstance(fit.problem.prior, GaussianProcess) for fit in found.fits):
        return None
    measured = np.concatenate([fold for _, fold in splits])
    try:
        latents = [
            constant_latent(model, len(measured)) if fit is None else _latent_without(fit, splits)
            for fit, model in zip(found.fits, members_of(found.model), strict=True)
        ]
    except NotPositiveDefiniteError:
        return None
    likelihood, noise_sd = likelihood_of(found.model), members_of(found.model)[0].noise_sd
    if not isinstance(likelihood, ClassLikelihood):
        return None
    prediction = likelihood.predictive(Latent.of_each(latents), noise_sd)
    return fitted_temperature(prediction.probabilities, rows.t[measured])


def _latent_without(fit: Fit, splits: Sequence[Split]) -> Latent:
    """The latent of the folds' rows, each by weights that are learned from the other rows, at the scales of all."""
    task, state = Task.of(fit.problem), fit.last.state
    h, vectors, parts = process_of(state).hyperparameters, task.vectors(state), list[Latent]()
    for others, fold in splits:
        rows = task.rows(state, fold)
        found = task.bound(task.rows(state, others), vectors, h)
        parts.append(task.latent(vectors, h, found, rows.X, rows.F))
    joined = ([one.mean for one in parts], [one.weights for one in parts], [one.residual for one in parts])
    return Latent(*(np.concatenate(part) for part in joined))
