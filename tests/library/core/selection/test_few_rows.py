"""Intervals from few rows hold new rows as often as they state, in draws with fixed seeds."""

import numpy as np
import pytest
from scipy.stats import t as student_t

from relevance_bayes.core.fitting import fit
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.pool import with_degrees_of_freedom
from relevance_bayes.core.prediction import RealPrediction, predict
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

SPEC = process_spec(GaussianNoise(), kernel=Gaussian(), inputs=True)
NEW_ROWS = 200


def drawn(rng: np.random.Generator, rows: int, inputs: int = 1) -> tuple[Array, Array]:
    """The sum of the first two inputs, or the only one, with noise of sd 1."""
    X = rng.uniform(-2.0, 2.0, (rows, inputs))
    return X, X[:, :2].sum(axis=1) + rng.standard_normal(rows)


def of_line(X: Array, t: Array, new: Array) -> Array:
    """Half the width (N,) of Student's t interval of the straight line."""
    P, Q = (np.column_stack([np.ones(len(x)), x]) for x in (X, new))
    weights = np.linalg.lstsq(P, t)[0]
    left = len(t) - P.shape[1]
    variance = float(np.square(t - P @ weights).sum()) / left
    leverage = np.einsum("nr,rs,ns->n", Q, np.linalg.inv(P.T @ P), Q)
    return np.asarray(float(student_t.ppf(0.975, left)) * np.sqrt(variance * (1.0 + leverage)))


def intervals(rows: int, draws: int, inputs: int = 1) -> tuple[float, float, float]:
    """The share of new rows within 95 % intervals, and the medians of half their widths, as they are and Gaussian."""
    inside, widths, gaussian = [], [], []
    for seed in range(draws):
        rng = np.random.default_rng((rows, seed))
        X, t = drawn(rng, rows, inputs)
        new, outcomes = drawn(rng, NEW_ROWS, inputs)
        model = fit(X, t, SPEC)
        found, before = predict(with_degrees_of_freedom(model), new), predict(model, new)
        assert isinstance(found, RealPrediction)
        assert isinstance(before, RealPrediction)
        low, high = found.interval(0.95)
        below, above = before.interval(0.95)
        inside.append(float(np.mean((low <= outcomes) & (outcomes <= high))))
        widths.append(np.median(high - low) / 2.0)
        gaussian.append(np.median(above - below) / 2.0)
    return float(np.mean(inside)), float(np.median(widths)), float(np.median(gaussian))


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "draws"), [(3, 20), (4, 160), (6, 20), (10, 20), (50, 6)])
def test_intervals_hold_new_rows_and_are_about_as_wide_as_those_of_the_line(rows: int, draws: int) -> None:
    share, width, gaussian = intervals(rows, draws)
    reference = []
    for seed in range(draws):
        rng = np.random.default_rng((rows, seed))
        X, t = drawn(rng, rows)
        new, _ = drawn(rng, NEW_ROWS)
        reference.append(np.median(of_line(X, t, new)))
    assert share >= 0.90
    assert width <= 1.2 * float(np.median(reference))
    if rows == 50:
        assert 1.0 < width / gaussian <= 1.04


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
