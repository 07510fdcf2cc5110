"""Intervals from few rows hold new rows as often as they state, in draws with fixed seeds."""

import numpy as np
import pytest
from scipy.stats import t as student_t

from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.pool import with_degrees_of_freedom
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceRegressor
from tests.library.core.drawn import process_spec

SPEC = process_spec(GaussianNoise(), kernel=Gaussian(), inputs=True)
NEW_ROWS = 200


def drawn(rng: np.random.Generator, rows: int, inputs: int = 1, noise_sd: float = 1.0) -> tuple[Array, Array]:
    """The sum of the first two inputs, or the only one, with noise."""
    X = rng.uniform(-2.0, 2.0, (rows, inputs))
    return X, X[:, :2].sum(axis=1) + noise_sd * rng.standard_normal(rows)


def of_line(X: Array, t: Array, new: Array) -> Array:
    """Half the width (N,) of Student's t interval of the straight line."""
    P, Q = (np.column_stack([np.ones(len(x)), x]) for x in (X, new))
    weights = np.linalg.lstsq(P, t)[0]
    left = len(t) - P.shape[1]
    variance = float(np.square(t - P @ weights).sum()) / left
    leverage = np.einsum("nr,rs,ns->n", Q, np.linalg.inv(P.T @ P), Q)
    return np.asarray(float(student_t.ppf(0.975, left)) * np.sqrt(variance * (1.0 + leverage)))


def intervals(rows: int, draws: int, inputs: int = 1, noise_sd: float = 1.0) -> tuple[float, float, float]:
    """The share of new rows within 95 % intervals, and the medians of their widths over those of the line and over
    Gaussian ones."""
    inside, over_line, over_gaussian = [], [], []
    for seed in range(draws):
        rng = np.random.default_rng((rows, seed))
        X, t = drawn(rng, rows, inputs, noise_sd)
        new, outcomes = drawn(rng, NEW_ROWS, inputs, noise_sd)
        model = fit(X, t, SPEC)
        found, before = predict(with_degrees_of_freedom(model), new), predict(model, new)
        assert isinstance(found, RealPrediction)
        assert isinstance(before, RealPrediction)
        low, high = found.interval(0.95)
        below, above = before.interval(0.95)
        inside.append(float(np.mean((low <= outcomes) & (outcomes <= high))))
        width = np.median(high - low)
        over_line.append(width / np.median(2.0 * of_line(X, t, new)) if rows > inputs + 1 else np.inf)
        over_gaussian.append(width / np.median(above - below))
    return float(np.mean(inside)), float(np.median(over_line)), float(np.median(over_gaussian))


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "draws"), [(3, 20), (4, 160), (6, 20), (10, 20), (50, 6)])
def test_intervals_hold_new_rows_and_are_about_as_wide_as_those_of_the_line(rows: int, draws: int) -> None:
    share, over_line, over_gaussian = intervals(rows, draws)
    assert share >= 0.90
    assert over_line <= 1.2
    if rows == 50:
        assert 1.0 < over_gaussian <= 1.04


def test_the_noise_of_three_rows_is_bounded_by_the_residuals_of_the_line() -> None:
    """At the bound the interval is sqrt(3/2) times that of the line, by the factor n/(n - 1) of the variance."""
    share, over_line, _ = intervals(3, 40, noise_sd=0.1)
    assert share >= 0.90
    assert over_line == pytest.approx(1.5**0.5, rel=0.01)


@pytest.mark.thorough
def test_a_default_training_on_three_rows_has_intervals_about_as_wide_as_those_of_the_line() -> None:
    inside, over_line = [], []
    for seed in range(30):
        rng = np.random.default_rng((3, seed))
        X, t = drawn(rng, 3, noise_sd=0.2)
        new, outcomes = drawn(rng, NEW_ROWS, noise_sd=0.2)
        _, interval = RelevanceRegressor().fit(X, t).predict(new, return_interval=0.95)
        low, high = interval.T
        inside.append(float(np.mean((low <= outcomes) & (outcomes <= high))))
        over_line.append(np.median(high - low) / np.median(2.0 * of_line(X, t, new)))
    assert np.mean(inside) >= 0.90
    assert np.median(over_line) <= 1.2


@pytest.mark.parametrize("rows", [4, 6])
def test_intervals_of_fewer_rows_than_two_for_each_input_hold_new_rows(rows: int) -> None:
    share, _, _ = intervals(rows, 12, inputs=3)
    assert share >= 0.85


def test_a_training_on_few_rows_predicts_and_is_measured_by_students_t() -> None:
    X, t = drawn(np.random.default_rng(1), 12)
    held_out = Rows(*drawn(np.random.default_rng(2), 20))
    *_, found = train(Rows(X, t), Selection(SPEC, folds=3), held_out=held_out)
    assert isinstance(found, Trained)
    assert found.model.degrees_of_freedom is not None
    prediction = predict(found.model, held_out.X)
    assert isinstance(prediction, RealPrediction)
    z = (held_out.t - prediction.mean) / np.sqrt(prediction.variance)
    expected = student_t.logpdf(z, found.model.degrees_of_freedom) - 0.5 * np.log(prediction.variance)
    assert found.scores["nll"] == pytest.approx(-float(np.mean(expected)), rel=1e-6)
