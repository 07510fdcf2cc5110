"""Outcomes scored by predictions, and the inputs that are kept."""

from typing import get_args

import numpy as np
import pytest

from app.outcomes.scoring import Columns, block_of_rows, rows_of
from relevance_bayes.core.likelihoods import GaussianNoise, OtherNumberTarget
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian, NumberLikelihood, NumberPrediction
from relevance_bayes.tables.columns import CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.prediction import MARGIN, MAX_LOG_RATIO, TEMPERED
from relevance_bayes.tasks.supervised.evaluation import QUANTILE_WEIGHTS, QUANTILES, class_figures, number_figures
from tests.small_tables import flags, numbers, texts

BLOCK: dict[str, Column] = {
    "number": numbers(0.1, None, 1e300),
    "flag": flags(True, None, False),
    "text": texts("größer", None, 'a "quotation"'),
    "at": TimestampArray(np.array([1.5e9, np.nan, 0.25])),
}
KINDS: Columns = (("number", "number"), ("flag", "boolean"), ("text", "category"), ("at", "timestamp"))


def test_recorded_inputs_are_read_as_they_were_predicted_for() -> None:
    rows = [*rows_of(BLOCK, [*BLOCK], np.arange(3))]
    assert rows[0] == '[0.1,true,"größer",1500000000.0]'
    found = block_of_rows(rows, KINDS, None)
    assert [*found] == [*BLOCK]
    for name, column in BLOCK.items():
        read = found[name]
        assert type(read) is type(column)
        if isinstance(column, CategoryArray) and isinstance(read, CategoryArray):
            assert [(*read.labels, None)[code] for code in read.codes] == ["größer", None, 'a "quotation"']
        elif not isinstance(column, CategoryArray) and not isinstance(read, CategoryArray):
            np.testing.assert_array_equal(read.values, column.values)


def test_some_rows_are_recorded_with_the_noise_where_the_request_had_it() -> None:
    block: dict[str, Column] = {"number": numbers(1.0, 2.0, 3.0), "sd": numbers(0.1, 0.2, 0.3)}
    rows = [*rows_of(block, ["number", "sd"], np.array([0, 2]))]
    found = block_of_rows(rows, KINDS[:1], "sd")
    assert {name: column.values.tolist() for name, column in found.items() if isinstance(column, NumberArray)} == {
        "number": [1.0, 3.0],
        "sd": [0.1, 0.3],
    }
    assert [*block_of_rows(["[1.0]"], KINDS[:1], "sd")] == ["number"]


TARGET = EncodedTarget("y", "number", 10.0, 2.0, ())
N = 2_000
UNIFORM = (np.arange(N) + 0.5) / N
LIKELIHOODS: tuple[type[NumberLikelihood], ...] = (GaussianNoise, *get_args(OtherNumberTarget))


def predicted(kind: type[NumberLikelihood], rows: int, *, variance: float) -> NumberPrediction:
    """The same prediction for some rows, of counts about 4."""
    made = kind()
    if made.shape is not None:
        made = made.with_shape(made.shape.first)
    mean = np.full(rows, 1.4 if made.targets == "count" else 0.3)
    latent = LatentGaussian(mean, np.full(rows, variance), np.zeros(rows))
    return made.predictive(latent, None if made.targets == "count" else 0.4)


def test_quantiles_integrate_over_all_probabilities() -> None:
    assert QUANTILE_WEIGHTS.sum() == pytest.approx(1.0)
    assert (QUANTILE_WEIGHTS * QUANTILES).sum() == pytest.approx(0.5)
    assert -(QUANTILE_WEIGHTS * np.log(QUANTILES)).sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("variance", [1e-6, 0.2])
@pytest.mark.parametrize("kind", LIKELIHOODS)
def test_ratios_have_a_mean_of_at_most_1_while_the_predictions_hold(
    kind: type[NumberLikelihood], variance: float
) -> None:
    one, many = (predicted(kind, rows, variance=variance) for rows in (1, N))
    t = np.array([one.quantile(float(probability))[0] for probability in UNIFORM])
    log_score, expected, lower, higher, *_, miss, inside_50, _, inside_95 = number_figures(TARGET, many, t)
    for ratio in (lower, higher):
        assert 0.94 < np.exp(ratio).mean() <= 1.0
        assert ratio.max() < MAX_LOG_RATIO + 1.0
    np.testing.assert_allclose(log_score, many.log_density(t) - np.log(2.0))
    assert expected[0] == pytest.approx(log_score.mean(), abs=0.03)
    assert miss[0] == pytest.approx(1.0 - inside_95.mean(), abs=1.5 / N)
    below, upto = many.distribution(t)
    if (below < upto).any():  # counts
        assert inside_50.mean() >= 0.5
        assert inside_95.mean() >= 0.95
    else:
        assert (inside_50.mean(), inside_95.mean()) == (pytest.approx(0.5), pytest.approx(0.95))


@pytest.mark.parametrize(("direction", "scale"), [("lower", 1.5), ("higher", 0.5)])
def test_a_ratio_is_evidence_for_wider_or_narrower_outcomes(direction: str, scale: float) -> None:
    one, many = (predicted(GaussianNoise, rows, variance=0.1) for rows in (1, N))
    t = np.array([one.quantile(float(probability))[0] for probability in UNIFORM])
    shifted = one.mean[0] + scale * (t - one.mean[0])
    figures = dict(zip(TEMPERED, number_figures(TARGET, many, shifted)[2:4], strict=True))
    assert figures[direction].mean() > 0.1
    assert all(ratio.mean() < 0.0 for name, ratio in figures.items() if name != direction)


def test_ratios_of_classes_have_a_mean_of_at_most_1_under_their_probabilities() -> None:
    p = np.array([0.7, 0.25, 0.05, 0.0])
    prediction = ClassPrediction(np.tile(p, (4, 1)), np.zeros(4), np.ones(4))
    log_score, expected, lower, higher, correct, confidence, _ = class_figures(prediction, np.arange(4.0))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_score, np.log(p))
    np.testing.assert_allclose(expected, (p[:3] * np.log(p[:3])).sum())
    assert (correct.tolist(), confidence.tolist()) == ([1, 0, 0, 0], [0.7] * 4)
    for ratio in (lower, higher):
        assert (p * np.exp(ratio)).sum() == pytest.approx(1.0 / MARGIN)
    assert lower[3] < MAX_LOG_RATIO + 1.0
    assert higher[3] == -np.inf


def test_a_class_without_a_number_is_unknown_to_the_version() -> None:
    prediction = ClassPrediction(np.array([[0.7, 0.3]]), np.zeros(1), np.ones(1))
    log_score, _, lower, higher, correct, *_ = class_figures(prediction, np.array([np.nan]))
    assert (log_score.item(), higher.item(), correct.item()) == (-np.inf, -np.inf, 0.0)
    assert 0.0 < lower.item() < MAX_LOG_RATIO + 1.0
