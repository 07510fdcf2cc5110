"""Counts, shares, zeros: folds take their likelihoods where they predict held-out rows better than Gaussian noise."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest
import scipy

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.kernels.hyperparameters import EvidenceWidth
from relevance_bayes.core.likelihoods import (
    GaussianNoise,
    Hurdle,
    LogitGaussian,
    NegativeBinomial,
    Poisson,
    TargetLikelihood,
)
from relevance_bayes.core.log_density import log_probability
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.pool import Pool, likelihood_of, ready_of
from relevance_bayes.core.models.pooling.members import FailedFit
from relevance_bayes.core.models.pooling.reduction import Densities, MemberPredictions
from relevance_bayes.core.models.prediction import NumberPrediction
from relevance_bayes.core.rows import FIT
from relevance_bayes.core.selection import Rows, Selection, Step, Trained, candidates, train
from relevance_bayes.core.selection.evaluation import (
    DISPERSED,
    NOT_BEYOND,
    NOT_DISPERSED,
    ComparedAlternative,
    PoolEvaluation,
    half_width,
)
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

SMOOTH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows"), seed=3)
ONE_WIDTH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows", width=EvidenceWidth()), seed=3)

COUNTS: tuple[TargetLikelihood, ...] = (Poisson(), NegativeBinomial())
SHARES: tuple[TargetLikelihood, ...] = (LogitGaussian(),)
ZEROS: tuple[TargetLikelihood, ...] = (Hurdle(),)

Drawn = Callable[[np.random.Generator, Array], Array]


def poisson(rng: np.random.Generator, f: Array) -> Array:
    """Counts of a log-linear mean."""
    return rng.poisson(np.exp(0.5 + f)).astype(np.float64)


def overdispersed(rng: np.random.Generator, f: Array) -> Array:
    """Counts of variance m + m^2."""
    return rng.poisson(np.exp(0.8 + f) * rng.gamma(1.0, 1.0, len(f))).astype(np.float64)


def far_from_zero(rng: np.random.Generator, f: Array) -> Array:
    """Counts of about 200, which scatter by 14."""
    return rng.poisson(200.0 + 20.0 * f).astype(np.float64)


def rounded(rng: np.random.Generator, f: Array) -> Array:
    """Whole numbers with Gaussian noise of one size, some of which are near 0."""
    return np.asarray(np.round(np.maximum(9.0 + 5.0 * f + 3.0 * rng.standard_normal(len(f)), 0.0)), np.float64)


def shares(rng: np.random.Generator, f: Array) -> Array:
    """Shares whose logits scatter by 0.6."""
    return np.asarray(scipy.special.expit(1.5 * f - 1.0 + 0.6 * rng.standard_normal(len(f))))


def beta_shares(rng: np.random.Generator, f: Array) -> Array:
    """Shares of Beta distributions with means of about 0.05."""
    mean = scipy.special.expit(1.2 * f - 3.0)
    return np.asarray(rng.beta(60.0 * mean, 60.0 * (1.0 - mean)))


def middle_shares(rng: np.random.Generator, f: Array) -> Array:
    """Shares near one half with Gaussian noise."""
    return np.asarray(0.5 + 0.03 * f + 0.01 * rng.standard_normal(len(f)))


def amounts(rng: np.random.Generator, f: Array) -> Array:
    """Zero in about a third of the rows, the fewer the greater f, else log-normal."""
    is_zero = rng.random(len(f)) < scipy.special.expit(-0.5 - 1.5 * f)
    return np.where(is_zero, 0.0, np.exp(0.5 + f + 0.7 * rng.standard_normal(len(f))))


def visits(rng: np.random.Generator, f: Array) -> Array:
    """Whole numbers: zero in about a third of the rows, else far from 0."""
    is_zero = rng.random(len(f)) < scipy.special.expit(-0.5 - 1.5 * f)
    return np.where(is_zero, 0.0, np.round(np.exp(3.0 + f + 0.3 * rng.standard_normal(len(f)))))


def rounded_amounts(rng: np.random.Generator, f: Array) -> Array:
    """Multiples of 0.1 with Gaussian noise of one size, some of them 0."""
    return 0.1 * rounded(rng, f)


def rows_of(drawn: Drawn, n: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, (n, 2))
    return Rows(X, drawn(rng, 0.8 * X[:, 0] + 0.4 * np.sin(2.0 * X[:, 1])))


@cache
def trained(drawn: Drawn, likelihoods: tuple[TargetLikelihood, ...]) -> Trained:
    specs = tuple(replace(SMOOTH, likelihood=one) for one in likelihoods)
    *_, found = train(rows_of(drawn, 120, 0), Selection(SMOOTH, compared_models=specs, pool=(ONE_WIDTH,)))
    assert isinstance(found, Trained)
    return found


def reasons(found: Trained) -> dict[str, str | None]:
    """The reasons of the compared models, by the names of their likelihoods."""
    return {one.spec.likelihood.type: one.reason for one in found.compared}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("drawn", "likelihoods", "taken"),
    [
        (poisson, COUNTS, {"poisson", "negative_binomial"}),
        (overdispersed, COUNTS, {"negative_binomial"}),
        (far_from_zero, COUNTS, {"gaussian"}),
        (rounded, COUNTS, {"gaussian"}),
        (shares, SHARES, {"logit_gaussian"}),
        (beta_shares, SHARES, {"logit_gaussian"}),
        (middle_shares, SHARES, {"gaussian"}),
        (amounts, ZEROS, {"hurdle"}),
        (visits, (*COUNTS, *ZEROS), {"hurdle"}),
        (rounded_amounts, ZEROS, {"gaussian"}),
    ],
)
def test_folds_take_the_likelihood_that_drew_the_rows(
    drawn: Drawn, likelihoods: tuple[TargetLikelihood, ...], taken: set[str]
) -> None:
    found = trained(drawn, likelihoods)
    assert likelihood_of(found.learned).type in taken
    assert (found.gain is None) == ("gaussian" in taken)
    if found.gain is not None:
        mean, error = found.gain
        assert mean > 2.0 * error > 0.0


def test_one_of_both_likelihoods_of_counts_is_fitted_by_the_dispersion_of_the_residuals() -> None:
    assert reasons(trained(overdispersed, COUNTS))["poisson"] == DISPERSED
    assert reasons(trained(rounded, COUNTS))["negative_binomial"] == NOT_DISPERSED


@pytest.mark.parametrize(("drawn", "likelihoods"), [(far_from_zero, COUNTS), (middle_shares, SHARES)])
def test_nothing_is_fitted_where_no_interval_reaches_beyond_the_bounds(
    drawn: Drawn, likelihoods: tuple[TargetLikelihood, ...]
) -> None:
    found = reasons(trained(drawn, likelihoods))
    assert [found[one.type] for one in likelihoods] == [NOT_BEYOND] * len(likelihoods)


@pytest.mark.parametrize(("drawn", "likelihoods"), [(poisson, COUNTS), (overdispersed, COUNTS), (shares, SHARES)])
def test_ends_are_within_the_bounds_and_cover_what_they_state(
    drawn: Drawn, likelihoods: tuple[TargetLikelihood, ...]
) -> None:
    new = rows_of(drawn, 3_000, 1)
    prediction, _ = ready_of(trained(drawn, likelihoods).learned).predict(new.X)
    assert isinstance(prediction, NumberPrediction)
    lower, upper = prediction.interval(0.9)
    median = prediction.quantile(0.5)
    assert ((lower <= median) & (median <= upper)).all()
    assert (lower >= 0.0).all()
    covered = float(np.mean((lower <= new.t) & (new.t <= upper)))
    if likelihoods == SHARES:
        assert (upper < 1.0).all()
        assert 0.85 <= covered <= 0.94
    else:
        assert 0.87 <= covered <= 0.99  # counts are discrete: the interval holds at least its probability


def test_intervals_of_a_hurdle_cover_what_they_state_of_all_rows_and_of_those_above_zero() -> None:
    new = rows_of(amounts, 3_000, 1)
    prediction, support = ready_of(trained(amounts, ZEROS).learned).predict(new.X)
    assert isinstance(prediction, NumberPrediction)
    lower, upper = prediction.interval(0.9)
    is_covered = (lower <= new.t) & (new.t <= upper)
    assert (lower >= 0.0).all()
    assert support is not None
    assert 0.88 <= is_covered.mean() <= 0.98  # an interval that holds 0 holds at least its probability
    assert 0.86 <= is_covered[new.t > 0.0].mean() <= 0.96


def test_a_hurdle_is_compared_by_the_probabilities_of_intervals_of_one_width() -> None:
    """One member, so that its weight is 1: the gain is that of the differences by hand."""
    rng = np.random.default_rng(0)
    t = np.where(rng.random(40) < 0.4, 0.0, np.exp(0.2 * rng.standard_normal(40)))
    assert half_width(t) == 0.5 * t[t > 0.0].min()
    assert half_width(np.array([0.0, 3.0, 7.0])) == 0.5
    losses, nll = rng.uniform(0.5, 3.0, 40), rng.uniform(0.0, 2.0, 40)
    outputs = [np.ones(40), np.where(t > 0.0, 0.6, 0.0), np.where(t > 0.0, 0.6, 0.4)]
    figures = np.array([nll, np.abs(t - 1.0), np.ones(40), *outputs, losses])
    splits = ((np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40)))
    densities, hurdle = Densities(np.full((40, 1), 0.7), np.full((40, 1), 0.4)), replace(SMOOTH, likelihood=Hurdle())
    whole = PoolEvaluation(MemberPredictions(splits, np.arange(40), t, densities), half_width=0.1)
    evaluation = whole.with_compared(ComparedAlternative(hurdle, figures))
    normal = scipy.stats.norm(0.7, np.sqrt(0.4))
    expected = losses + np.log(normal.cdf(t + 0.1) - normal.cdf(t - 0.1))
    np.testing.assert_allclose(evaluation.gain_of(0), -expected, rtol=1e-9)
    _, left = evaluation.compared((SMOOTH,))
    assert left.score == pytest.approx(-(losses + log(0.2)).mean())


def test_scores_of_what_was_compared_with_counts_are_log_probabilities() -> None:
    """Those of the processes can't be above 0, as a density can."""
    found = trained(poisson, COUNTS)
    of_processes = [one.score for one in found.compared if one.spec.likelihood.type == "gaussian"]
    assert len(of_processes) == 2
    assert found.score.value is not None
    assert all(score is not None and score < found.score.value < 0.0 for score in of_processes)


def test_the_probability_of_a_whole_number_is_that_of_the_interval_about_it() -> None:
    t, mean, variance = np.array([0.0, 3.0, 40.0]), np.array([0.4, 2.0, 1.0]), np.array([0.01, 4.0, 9.0])
    one = scipy.stats.norm(mean, np.sqrt(variance))
    found, expected = log_probability(t, mean, variance), one.cdf(t + 0.5) - one.cdf(t - 0.5)
    np.testing.assert_allclose(np.exp(found[:2]), expected[:2], rtol=1e-12)
    tail = float(scipy.stats.norm.logsf(38.5 / 3.0))  # nearly all of it lies at the near end
    assert tail + log(0.9) < found[2] < tail


def test_the_pool_is_compared_with_counts_by_the_probabilities_of_whole_numbers() -> None:
    """One member, so that its weight is 1: the gain is that of the sums by hand."""
    rng = np.random.default_rng(0)
    t = rng.poisson(2.0, 40).astype(np.float64)
    densities = Densities(np.full((40, 1), 2.1), np.full((40, 1), 1.9))
    of_counts = scipy.stats.poisson(2.0)
    outputs = [np.full(40, 2.0), of_counts.cdf(t - 1.0), of_counts.cdf(t)]
    figures = np.array([-of_counts.logpmf(t), np.abs(t - 2.0), np.ones(40), *outputs])
    splits = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    counts = ComparedAlternative(replace(SMOOTH, likelihood=Poisson()), figures)
    evaluation = PoolEvaluation(MemberPredictions(tuple(splits), np.arange(40), t, densities), (counts,))
    normal = scipy.stats.norm(2.1, np.sqrt(1.9))
    expected = of_counts.logpmf(t) - np.log(normal.cdf(t + 0.5) - normal.cdf(t - 0.5))
    np.testing.assert_allclose(evaluation.gain_of(0), expected, rtol=1e-9)
    assert evaluation.mean_gain(0)[0] == pytest.approx(float(expected.mean()))
    assert evaluation.dispersion == pytest.approx(float(np.square(t - 2.1).mean() / t.mean()))
    assert evaluation.reaches_beyond(0.0, np.inf)
    assert not evaluation.reaches_beyond(-1.0, np.inf)


def test_a_likelihood_that_is_requested_is_not_compared() -> None:
    *_, found = train(rows_of(poisson, 60, 0), Selection(SMOOTH, pool=(ONE_WIDTH,)))
    assert isinstance(found, Trained)
    assert found.gain is None
    assert isinstance(found.learned, Pool) or likelihood_of(found.learned) == GaussianNoise()


@pytest.mark.parametrize(("likelihood", "rows"), [(Poisson(), 5_000), (GaussianNoise(), 6_000)])
def test_counts_learn_a_fold_of_many_rows_from_a_sample(
    likelihood: TargetLikelihood, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned_from: list[int] = []

    def fit(some: Rows, *_: object, **__: object) -> Iterator[Step]:
        learned_from.append(len(some.t))
        raise NotPositiveDefiniteError("none")

    monkeypatch.setattr(candidates, "computable_fit", fit)
    spec, whole = replace(SMOOTH, likelihood=likelihood), rows_of(poisson, 6_000, 0)
    prediction = candidates.alternative_prediction(
        whole, whole.take(np.arange(5)), spec, FailedFit("none"), FitLog(), FIT
    )
    assert list(prediction) == []
    assert learned_from == [rows]
