"""Heteroscedastic noise: a function and its log noise variance, learned in turn under one bound.

t = f(x) + N(0, e^g(x)), both f and g Gaussian processes seen through few functions. With q(f) q(g) the bound on the log
marginal likelihood has a closed form [LAZARO2011]:

    L = sum_n -1/2 [log 2 pi + m_n + lam_n ((t_n - f_n)^2 + v_n)] - KL_f - KL_g,    lam_n = exp(-m_n + u_n / 2)

where q(f_n) = N(f_n, v_n) and q(g_n) = N(m_n, u_n). Given q(g), the best q(f) is that of Gaussian noise of the
precisions lam by row; given q(f), the best q(g) is that of the squares y_n = (t_n - f_n)^2 + v_n under `LogVariance`.
Each is an ordinary fit of the process prior, with its hyperparameters and functions, and neither lowers L. y includes
the posterior variance of f, so that overfitting f does not reduce the noise. The first rounds choose the functions; the
later ones go on through these.

[LAZARO2011] is Lazaro-Gredilla & Titsias, Variational heteroscedastic Gaussian process regression, ICML 28.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log

import numpy as np

from relevance_bayes.core.algorithms import Algorithm, Greedy
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import process_of
from relevance_bayes.core.basis import Bias, ConstantFunction, Inputs, KernelBasis
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.folds import subset
from relevance_bayes.core.inference.problem import Problem, check_rows
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, Hyperparameters
from relevance_bayes.core.likelihoods import GaussianNoise, LogVariance
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.models.fitting import FitLog, learned, pose_rows
from relevance_bayes.core.models.model import LogNoise, Model, Spec
from relevance_bayes.core.models.prediction import latent
from relevance_bayes.core.models.width_search import with_width
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import ArrayRows, Folding, Rows, Sample, Step
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import Evidence

MAX_ROUNDS = 5

ROUNDS_WITH_CHOICE = 2
"""The first rounds, each of which learns scales and chooses functions: the first knows only noise of one size."""

MIN_GAIN = 1e-3
"""The least rise of the bound in nats a row of a round that is not the last."""

MAX_CENTRES = 4_000

CEILING = 10.0
"""The upper bound of the noise variance at any x, over the greatest at the training rows."""

MAX_LOG = 300.0


@dataclass(frozen=True, eq=False)
class FunctionFit:
    """The end of the fit of one function: its model, and the `state` from which it can go on."""

    model: Model
    state: State

    @property
    def hyperparameters(self) -> Hyperparameters:
        """The learned hyperparameters."""
        return process_of(self.state).hyperparameters

    def at(self, phase: str) -> State:
        """The state from which a fit to other targets or rows goes on through the same functions, from a phase on."""
        process = replace(process_of(self.state), phase=phase, origin=None)
        return replace(self.state, objective=-inf, termination=None, process=process, trace=None)


@dataclass(frozen=True, eq=False)
class TwoFunctions:
    """The fits of f and g with the bound L, in nats; `latent` is that of g at the rows."""

    of_mean: FunctionFit
    of_noise: FunctionFit
    value: float
    latent: LatentGaussian

    @property
    def mean(self) -> Model:
        """The model of f."""
        return self.of_mean.model

    @property
    def noise(self) -> Model:
        """The model of g."""
        return self.of_noise.model

    @property
    def model(self) -> Model:
        """Both as one model, with g as its log noise."""
        logs = self.latent.mean + 0.5 * self.latent.variance
        both = self.mean.evidence.log_hyperprior, self.noise.evidence.log_hyperprior
        hyperprior = sum(one or 0.0 for one in both)
        second = LogNoise(self.noise, float(logs.min()), float(logs.max()) + log(CEILING))
        return replace(
            self.mean,
            likelihood=GaussianNoise("heteroscedastic"),
            noise_sd=float(np.sqrt(np.mean(second.variance(self.latent)))),
            evidence=Evidence(self.value, "lower_bound", hyperprior, 0.0),
            log_noise=second,
        )


def with_log_noise(
    rows: Rows, spec: Spec, folding: Folding, fit_log: FitLog, threads: int = 1
) -> Generator[Step, None, tuple[Model, Spec]]:
    """Both functions as one model, and the spec as run: a searched width is that found under homoscedastic noise."""
    check_rows(rows.X, rows.t)
    spec.likelihood.check(rows.t)
    resolved = yield from with_width(rows, replace(spec, likelihood=GaussianNoise()), folding, fit_log)
    resolved = replace(resolved, likelihood=spec.likelihood)
    found = yield from heteroscedastic(rows, resolved, fit_log, threads=threads)
    return found.model, resolved


def heteroscedastic(
    rows: Rows,
    spec: Spec,
    fit_log: FitLog,
    *,
    threads: int = 1,
    step: Step | None = None,
    begin: Hyperparameters | None = None,
    after: TwoFunctions | None = None,
    max_rounds: int = MAX_ROUNDS,
    rounds_with_choice: int = ROUNDS_WITH_CHOICE,
    grows: bool = True,
) -> Generator[Step, None, TwoFunctions]:
    """Learn both functions from N rows, in rounds until the bound converges; return the best round.

    The first fit has homoscedastic noise, from the hyperparameters `begin` where these are given; or the rounds come
    `after` the first one of the same rows. The first rounds choose functions. Where it `grows`, functions of f that
    gain on all of many rows are added. Yields `step` where there is one. Raises DataError, NotPositiveDefiniteError.
    """
    fits = _Fits(rows, spec, fit_log, threads, step)
    mean = (yield from fits.first(begin)) if after is None else after.of_mean
    best = after
    for number in range(0 if after is None else 1, max_rounds):
        before = best
        phase = "scales" if number < rounds_with_choice else "together"
        found = yield from fits.round(mean, before, phase, grows=grows)
        mean = found.of_mean
        best = found if best is None or found.value > best.value else best
        if before is not None and found.value < before.value + MIN_GAIN * len(rows.t):
            break
    if best is None:
        raise SparseBayesError("expected a round at least")
    return best


def at_scales(rows: Rows, others: Indices, spec: Spec, found: TwoFunctions) -> Generator[Step, None, Model]:
    """Both functions as one model of the rows `others` (n,), through the functions and at the widths of all rows.

    Noise, signal variance and precisions of f are learned from these rows. Raises NotPositiveDefiniteError.
    """
    fits, g = _Fits(rows, spec, FitLog(), 1, None, others), found.latent
    some = LatentGaussian(g.mean[others], g.weights[others], g.residual[others])
    mean = yield from fits.mean(some, found.of_mean, "rows")
    return (yield from fits.round(mean, found, "rows")).model


def noise_spec(spec: Spec) -> Spec:
    """The fit of the log noise variance: a smooth process about a linear function of the inputs."""
    basis = (KernelBasis(width=EvidencePerInputWidth()), Bias(), Inputs())
    return replace(spec, likelihood=LogVariance(), basis=basis, prior=GaussianProcess(inducing_points="rows"))


def expected_squares(mean: Model, rows: Rows) -> Array:
    """E (t - f)^2 of each row, (N,)."""
    f = latent(mean, rows.X)
    return np.square(rows.t - f.mean) + f.variance


def expected_log_density(squares: Array, g: LatentGaussian) -> float:
    """The sum over rows of E log N(r; 0, e^g), where E r^2 are the `squares` (N,)."""
    return float(LogVariance().expected(squares, g.mean, g.variance, 1.0).value.sum())


def _raised(noise: Model, by: float) -> Model:
    """The same model with `by` added to the constant's weight."""
    constant = [isinstance(one, ConstantFunction) for one in noise.functions for _ in range(one.size)]
    return replace(noise, mean=noise.mean + by * np.array(constant, np.float64))


@dataclass(frozen=True)
class _Fits:
    """The fits of one training to its rows, or to `some` (n,) of them, with the same candidates."""

    rows: Rows
    spec: Spec
    fit_log: FitLog
    threads: int
    step: Step | None
    some: Indices | None = None

    @cached_property
    def learned(self) -> Rows:
        """The rows from which the functions are learned."""
        return self.rows if self.some is None else self.rows.take(self.some)

    @cached_property
    def centres(self) -> Sample:
        """The candidates of all rows."""
        numbers = subset(self.rows.X, self.rows.t, MAX_CENTRES, self.spec.seed)
        return Sample(numbers, self.rows.X[numbers])

    def first(self, begin: Hyperparameters | None) -> Generator[Step, None, FunctionFit]:
        """f of homoscedastic noise at its scales: all but these is learned again, from other precisions."""
        rows, spec = self.learned, replace(self.spec, likelihood=GaussianNoise())
        for now in self.fit_log.iterates(replace(self._problem(rows, spec), begin=begin), self._chosen_once(spec)):
            yield self._step(now.state)
            if process_of(now.state).phase in {"vectors", "together"}:
                break
        process = replace(process_of(now.state), phase="rows", moved=None)
        start = replace(now.state, objective=-inf, process=process)
        return (yield from self.run(rows, spec, None, start))

    def round(
        self, mean: FunctionFit, before: TwoFunctions | None, phase: str, *, grows: bool = False
    ) -> Generator[Step, None, TwoFunctions]:
        """The log noise variance given f, and f given this, from a phase on: by `scales` they are learned anew, from
        the hyperparameters of a round before where there was one."""
        rows = self.learned
        squares = expected_squares(mean.model, rows)
        unit = float(squares.mean())
        of_squares, before_it = Rows(rows.X, squares / unit), None if before is None else before.of_noise
        noise = yield from self._from(of_squares, noise_spec(self.spec), before_it, phase)
        g = latent(noise.model, rows.X)
        divergence = expected_log_density(squares / unit, g) - noise.model.evidence.value
        noise, g = replace(noise, model=_raised(noise.model, log(unit))), replace(g, mean=g.mean + log(unit))
        mean = yield from self.mean(g, mean, phase, grows=grows)
        value = mean.model.evidence.value - divergence - 0.25 * float(g.variance.sum())
        return TwoFunctions(mean, noise, value, g)

    def mean(
        self, g: LatentGaussian, before: FunctionFit, phase: str, *, grows: bool = False
    ) -> Generator[Step, None, FunctionFit]:
        """f given the latent g of the log noise variance."""
        return (yield from self._from(*self._known(g), before, phase, grows=grows))

    def _from(
        self, rows: Rows, spec: Spec, before: FunctionFit | None, phase: str, *, grows: bool = False
    ) -> Generator[Step, None, FunctionFit]:
        """A fit that goes on from another one, at a phase."""
        if before is None or phase == "scales":
            begin = None if before is None else before.hyperparameters
            if begin is not None and spec.likelihood.noise_by_row:
                begin = replace(begin, beta=1.0)
            return (yield from self.run(rows, spec, begin, grows=grows))
        return (yield from self.run(rows, spec, None, before.at(phase), grows=grows))

    def _known(self, g: LatentGaussian) -> tuple[Rows, Spec]:
        """The rows with the noise of g, and the spec of noise known by row."""
        rows, log_sd = self.learned, 0.5 * (g.mean - 0.5 * g.variance)
        known = Rows(rows.X, rows.t, np.exp(np.clip(log_sd, -MAX_LOG, MAX_LOG)))
        return known, replace(self.spec, likelihood=GaussianNoise("rows"))

    def _problem(self, rows: Rows, spec: Spec) -> Problem:
        source = ArrayRows(rows.X, rows.t, threads=self.threads)
        return pose_rows(source, spec, centres=self.centres, noise_sd=rows.noise_sd)

    def run(
        self,
        rows: Rows,
        spec: Spec,
        begin: Hyperparameters | None,
        start: State | None = None,
        *,
        grows: bool = False,
    ) -> Generator[Step, None, FunctionFit]:
        """A fit to its end, from a state, or started at the hyperparameters `begin` where there are any; no function
        is added to those chosen first unless it `grows`."""
        problem = replace(self._problem(rows, spec), begin=begin)
        for now in self.fit_log.iterates(problem, spec if grows else self._chosen_once(spec), start):
            yield self._step(now.state)
        return FunctionFit(learned(problem, now), now.state)

    def _chosen_once(self, spec: Spec) -> Spec:
        """The spec whose functions are those chosen first."""
        algorithm = spec.algorithm
        if _is_bounded(algorithm) or not isinstance(algorithm, Greedy):
            return spec
        return replace(spec, algorithm=replace(algorithm, max_rows=len(self.learned.t)))

    def _step(self, state: State) -> Step:
        return self.step or Step("fit", state.iteration, None, "iterations", None, len(state.active))


def _is_bounded(algorithm: Algorithm) -> bool:
    """True where an algorithm learns from a maximum of rows."""
    return isinstance(algorithm, Greedy) and algorithm.max_rows is not None
