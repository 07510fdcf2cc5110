"""Heteroscedastic noise: a function and its log noise variance, learned in turn under one bound.

t = f(x) + N(0, e^g(x)), both f and g Gaussian processes seen through few functions. With q(f) q(g) the bound on the log
marginal likelihood has a closed form [LAZARO2011]:

    L = sum_n -1/2 [log 2 pi + m_n + lam_n ((t_n - f_n)^2 + v_n)] - KL_f - KL_g,    lam_n = exp(-m_n + u_n / 2)

where q(f_n) = N(f_n, v_n) and q(g_n) = N(m_n, u_n). Given q(g), the best q(f) is that of Gaussian noise of the
precisions lam by row; given q(f), the best q(g) is that of the squares y_n = (t_n - f_n)^2 + v_n under `LogVariance`.
Each is an ordinary fit of the process prior, with its hyperparameters and functions, and neither lowers L. y includes
the posterior variance of f, so that overfitting f does not reduce the noise.

[LAZARO2011] is Lazaro-Gredilla & Titsias, Variational heteroscedastic Gaussian process regression, ICML 28.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import process_of
from relevance_bayes.core.basis import Bias, ConstantFunction, Inputs, KernelBasis
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import learned, pose
from relevance_bayes.core.folds import subset
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.likelihoods import GaussianNoise, LogVariance
from relevance_bayes.core.likelihoods.predictive import Latent
from relevance_bayes.core.model import LogNoise, Model
from relevance_bayes.core.prediction import latent
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.scales import EvidencePerInputWidth
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.widths import with_width
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

MAX_ROUNDS = 5

MIN_GAIN = 1e-3
"""The least rise of the bound in nats a row of a round that is not the last."""

MAX_CENTRES = 4_000

CEILING = 10.0
"""The upper bound of the noise variance at any x, over the greatest at the training rows."""

MAX_LOG = 300.0


@dataclass(frozen=True, eq=False)
class TwoFunctions:
    """f and g as two models with the bound L, in nats; `latent` is that of g at the rows."""

    mean: Model
    noise: Model
    value: float
    latent: Latent

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
            evidence=LogEvidence(self.value, "lower_bound", hyperprior),
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
    rows: Rows, spec: Spec, fit_log: FitLog, *, threads: int = 1, step: Step | None = None
) -> Generator[Step, None, TwoFunctions]:
    """Learn both functions from N rows, in rounds until the bound converges; return the best round.

    The first fit has homoscedastic noise. Yields `step` where there is one. Raises
    DataError, NotPositiveDefiniteError.
    """
    fits = _Fits(rows, spec, fit_log, threads, step)
    mean, of_mean = yield from fits.run(rows, replace(spec, likelihood=GaussianNoise()), None)
    of_noise: Hyperparameters | None = None
    best: TwoFunctions | None = None
    for _ in range(MAX_ROUNDS):
        squares = expected_squares(mean, rows)
        unit = float(squares.mean())
        noise, of_noise = yield from fits.run(Rows(rows.X, squares / unit), noise_spec(spec), of_noise)
        g = latent(noise, rows.X)
        divergence = expected_log_density(squares / unit, g) - noise.evidence.value
        noise, g = _raised(noise, log(unit)), replace(g, mean=g.mean + log(unit))
        by_row = replace(spec, likelihood=GaussianNoise("rows"))
        known = Rows(rows.X, rows.t, np.exp(np.clip(0.5 * (g.mean - 0.5 * g.variance), -MAX_LOG, MAX_LOG)))
        mean, of_mean = yield from fits.run(known, by_row, replace(of_mean, beta=1.0))
        value = mean.evidence.value - divergence - 0.25 * float(g.variance.sum())
        before, found = best, TwoFunctions(mean, noise, value, g)
        best = found if best is None or value > best.value else best
        if before is not None and value < before.value + MIN_GAIN * len(rows.t):
            break
    if best is None:
        raise SparseBayesError("expected a round at least")
    return best


def noise_spec(spec: Spec) -> Spec:
    """The fit of the log noise variance: a smooth process about a linear function of the inputs."""
    basis = (KernelBasis(width=EvidencePerInputWidth()), Bias(), Inputs())
    return replace(spec, likelihood=LogVariance(), basis=basis, prior=GaussianProcess(inducing_points="rows"))


def expected_squares(mean: Model, rows: Rows) -> Array:
    """E (t - f)^2 of each row, (N,)."""
    f = latent(mean, rows.X)
    return np.square(rows.t - f.mean) + f.variance


def expected_log_density(squares: Array, g: Latent) -> float:
    """The sum over rows of E log N(r; 0, e^g), where E r^2 are the `squares` (N,)."""
    return float(LogVariance().expected(squares, g.mean, g.variance, 1.0).value.sum())


def _raised(noise: Model, by: float) -> Model:
    """The same model with `by` added to the constant's weight."""
    constant = [isinstance(one, ConstantFunction) for one in noise.functions for _ in range(one.size)]
    return replace(noise, mean=noise.mean + by * np.array(constant, np.float64))


@dataclass(frozen=True)
class _Fits:
    """The fits of one training, with the same candidates."""

    rows: Rows
    spec: Spec
    fit_log: FitLog
    threads: int
    step: Step | None

    def run(
        self, rows: Rows, spec: Spec, begin: Hyperparameters | None
    ) -> Generator[Step, None, tuple[Model, Hyperparameters]]:
        """A fit to its end, started at the hyperparameters `begin` where there are any."""
        centres = subset(self.rows.X, self.rows.t, MAX_CENTRES, self.spec.seed)
        problem = pose(rows.X, rows.t, spec, centres=centres, noise_sd=rows.noise_sd, threads=self.threads)
        problem = replace(problem, begin=begin)
        state: State | None = None
        for now in self.fit_log.iterates(problem, spec):
            state = now.state
            yield self.step or Step("fit", state.iteration, None, "iterations", None, len(state.active))
        if state is None:
            raise SparseBayesError("expected a state at least")
        return learned(problem, now), process_of(state).hyperparameters
