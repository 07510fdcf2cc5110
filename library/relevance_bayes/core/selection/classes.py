"""The training of one model of classes, or one for each class, and its temperature by folds of the weights."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.algorithms.state import Iterate
from relevance_bayes.core.algorithms.task import Task, process_of
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.fitting import learned
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.likelihoods import BernoulliPerClass, ClassLikelihood
from relevance_bayes.core.likelihoods.predictive import ClassPrediction, Latent
from relevance_bayes.core.likelihoods.temperature import fitted_temperature
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, at_temperature, likelihood_of, members_of
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.selection.per_class import fitted_per_class
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array, Indices

MAX_ROWS = 2_000
"""The most rows, drawn by content, to which a temperature is fitted."""

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit at its end, and the spec as run."""

    spec: Spec
    problem: Problem
    last: Iterate

    @property
    def model(self) -> Model:
        """The learned model."""
        return learned(self.problem, self.last)


FitOne = Callable[[Rows, Spec], Generator[Step, None, Fit]]
"""A fit of one model."""


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A model of classes before its temperature is learned, with the fits (1,) or (K,) of its members.

    `specs` are those of the members, with the widths found. A fit is None where a class has a constant probability.
    """

    model: LearnedModel
    specs: tuple[Spec, ...]
    fits: tuple[Fit | None, ...]


def fitted_classes(rows: Rows, spec: Spec, fit: FitOne) -> Generator[Step, None, FittedClasses]:
    """Fit classes t (N,) by one model, or by one for each class under `BernoulliPerClass`."""
    fits: list[Fit | None] = []

    def one(some: Rows, single: Spec) -> Generator[Step, None, tuple[Model, Spec]]:
        fits.append(None)
        found = yield from fit(some, single)
        model = found.model
        fits[-1] = found
        return model, found.spec

    if isinstance(spec.likelihood, BernoulliPerClass):
        found = yield from fitted_per_class(rows, spec, spec.likelihood, one)
        return FittedClasses(found.model, found.specs, tuple(fits))
    model, run = yield from one(rows, spec)
    return FittedClasses(model, (run,), tuple(fits))


def learns_temperature(spec: Spec) -> bool:
    """True where a spec is of classes whose temperature is learned."""
    return isinstance(spec.likelihood, ClassLikelihood) and spec.likelihood.temperature == "learned"


def with_fold_temperature(found: FittedClasses, rows: Rows, folding: Folding, seed: int) -> LearnedModel:
    """The model at the temperature of folds whose rows are held out from the weights alone.

    Functions and scales are those of all rows, so that the probabilities are a few percent too certain: the temperature
    is within 5 % of that of whole folds where all inputs have one width. The model is unchanged without a process.
    """
    some = subset(rows.X, rows.t, MAX_ROWS, seed)
    splits = [
        (some[others], some[fold])
        for others, fold in folding.take(some).splits(rows.take(some), FOLDS, seed)
        if len(fold) and len(np.unique(rows.t[some[others]])) > 1
    ]
    try:
        prediction = _left_out(found, splits)
    except NotPositiveDefiniteError:
        return found.model
    if prediction is None:
        return found.model
    measured = np.concatenate([fold for _, fold in splits])
    return at_temperature(found.model, fitted_temperature(prediction.probabilities, rows.t[measured]))


def _left_out(found: FittedClasses, splits: Sequence[Split]) -> ClassPrediction | None:
    """The folds' rows, one fold after the other, each by weights learned without it; None without process or fold."""
    if not splits or not any(fit is not None and isinstance(fit.spec.prior, GaussianProcess) for fit in found.fits):
        return None
    latents = [
        _constant(model, splits) if fit is None else _latent_without(fit, splits)
        for fit, model in zip(found.fits, members_of(found.model), strict=True)
    ]
    likelihood, noise_sd = likelihood_of(found.model), members_of(found.model)[0].noise_sd
    if len(latents) == 1:
        prediction = likelihood.predictive(latents[0], noise_sd)
    else:
        parts = [(one.mean, one.weights, one.residual) for one in latents]
        mean, weights, residual = (np.column_stack(part) for part in zip(*parts, strict=True))
        prediction = likelihood.predictive(Latent(mean, weights, residual), noise_sd)
    return prediction if isinstance(prediction, ClassPrediction) else None


def _latent_without(fit: Fit, splits: Sequence[Split]) -> Latent:
    """The latent of the folds' rows, each by weights that are learned from the other rows, at the scales of all."""
    task, state = Task.of(fit.problem), fit.last.state
    h, vectors = process_of(state).hyperparameters, task.vectors(state)
    V, kernel = vectors.mapped(h), h.covariance(task.kernel)
    means, weights, residual = list[Array](), list[Array](), list[Array]()
    for others, fold in splits:
        found = task.bound(task.rows(state, others), vectors, h)
        rows = task.rows(state, fold)
        B = found.whitening.columns(kernel(h.input_map(rows.X), V))
        P, known = np.hstack([rows.F, B]), found.optimum.posterior
        means.append(P @ known.mean)
        weights.append(np.vecdot(P @ known.covariance, P))
        residual.append(h.signal_variance * found.whitening.left(B))
    return Latent(np.concatenate(means), np.maximum(np.concatenate(weights), 0.0), np.concatenate(residual))


def _constant(model: Model, splits: Sequence[Split]) -> Latent:
    """The latent of a class of constant probability."""
    rows: Indices = np.concatenate([fold for _, fold in splits])
    return Latent(np.full(len(rows), model.mean[0]), np.full(len(rows), model.covariance[0, 0]), np.zeros(len(rows)))
