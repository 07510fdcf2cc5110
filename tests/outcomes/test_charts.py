from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from math import exp, inf, log
from uuid import uuid4

import numpy as np
import pytest

from app.outcomes.charts import (
    CHARTS_OF_A_VERSION,
    MIN_OUTCOMES_TO_FALSE_ALARM,
    ODDS_RATIOS,
    THRESHOLD,
    Chart,
    bernoulli_ratio,
)
from app.outcomes.records import ScoredOutcome
from app.outcomes.scoring import MIN_LOG_SCORE, Promise, advance
from relevance_bayes.records.outcomes import Direction

AT = datetime(2026, 3, 1, tzinfo=UTC)
NOMINAL = Promise()


def values(ratios: Sequence[float]) -> list[float]:
    chart, found = Chart("coverage", "lower"), list[float]()
    for place, ratio in enumerate(ratios):
        chart = chart.add(ratio, observed=1.0, expected=0.95, at=AT + timedelta(hours=place))
        found.append(chart.value)
    return found


def outcome(level: int = 50, *, lower: float = -0.1, higher: float = -0.1, log_score: float = 0.0) -> ScoredOutcome:
    return ScoredOutcome(log_score, 0.0, lower, higher, level, None, None, 0.05)


def test_a_chart_is_the_largest_sum_of_the_last_ratios_below_its_threshold() -> None:
    ratios = np.random.default_rng(1).normal(-0.2, 1.0, 200).tolist()
    maxima = [max(0.0, *accumulate(ratios[place::-1])) for place in range(len(ratios))]
    assert max(maxima) < THRESHOLD
    assert values(ratios) == pytest.approx(maxima, abs=1e-12)


def test_a_chart_begins_again_where_its_value_falls_to_0() -> None:
    chart = Chart("coverage", "lower").add(1.0, observed=0.0, expected=0.95, at=AT)
    chart = chart.add(0.5, observed=1.0, expected=0.95, at=AT + timedelta(hours=1))
    assert (chart.value, chart.since, chart.outcomes) == (1.5, AT, 2)
    assert chart.observed == 1.0
    assert chart.expected == pytest.approx(1.9)
    assert chart.add(-1.5, observed=1.0, expected=0.95, at=AT) == Chart("coverage", "lower")
    assert replace(chart, alarm_id=uuid4()).add(-inf, observed=1.0, expected=0.95, at=AT).alarm_id is None


@pytest.mark.parametrize("direction", ["lower", "higher"])
@pytest.mark.parametrize("promised", [0.001, 0.05, 0.4, 1.0])
def test_a_ratio_is_that_of_the_likelihoods_under_multiplied_odds(direction: Direction, promised: float) -> None:
    missed, hit = (exp(bernoulli_ratio(one, promised, direction)) for one in (True, False))
    assert promised * missed + (1.0 - promised) * hit == pytest.approx(1.0)
    if promised < 1.0:
        other = promised * missed
        assert other / (1.0 - other) == pytest.approx(ODDS_RATIOS[direction] * promised / (1.0 - promised))


def test_the_mean_time_to_a_false_alarm_is_at_least_the_promised_one() -> None:
    """The ratios of one chart under its null hypothesis: a threshold of log g has a mean run of at least g."""
    random, target, threshold, runs = np.random.default_rng(2), 50.0, log(50.0), list[int]()
    hit, missed = (bernoulli_ratio(one, 0.05, "lower") for one in (False, True))
    for _ in range(300):
        value, length = 0.0, 0
        while value < threshold:
            value = max(0.0, value + (missed if random.random() < 0.05 else hit))
            length += 1
        runs.append(length)
    assert np.mean(runs) > target
    assert exp(THRESHOLD) == pytest.approx(CHARTS_OF_A_VERSION * MIN_OUTCOMES_TO_FALSE_ALARM)


def test_a_run_of_misses_raises_one_alarm_that_is_cleared_once_the_outcomes_agree_again() -> None:
    first = advance((), [outcome(100)] * 60, NOMINAL, AT)
    (raised,) = first.raised
    assert (raised.statistic, raised.direction, raised.observed) == ("coverage", "lower", 0.0)
    assert raised.outcomes == -(-THRESHOLD // bernoulli_ratio(True, 0.05, "lower"))
    second = advance(first.charts, [outcome(100)] * 60, NOMINAL, AT)
    assert (second.raised, second.cleared) == ((), ())
    agreeing = [outcome(50 if place % 20 else 100) for place in range(2_000)]
    third = advance(second.charts, agreeing, NOMINAL, AT)
    assert (third.raised, third.cleared) == ((), (raised.alarm_id,))
    (again,) = advance(third.charts, [outcome(100)] * 60, NOMINAL, AT).raised
    assert again.alarm_id != raised.alarm_id


def test_outcomes_that_are_always_inside_raise_an_alarm_too() -> None:
    raised = advance((), [outcome(50)] * 1_000, NOMINAL, AT).raised
    assert [(chart.statistic, chart.direction) for chart in raised] == [("coverage", "higher")]


def test_misses_that_training_measured_are_no_departure() -> None:
    some = [outcome(100 if place % 10 == 0 else 50) for place in range(3_000)]
    assert [chart.direction for chart in advance((), some, NOMINAL, AT).raised] == ["lower"]
    assert advance((), some, Promise((0.10,)), AT).raised == ()


def test_an_outcome_that_was_excluded_counts_as_the_least_log_score() -> None:
    impossible = outcome(100, lower=2.0, higher=-inf, log_score=-inf)
    raised = {chart.statistic: chart for chart in advance((), [impossible] * 10, NOMINAL, AT).raised}
    assert raised["log_score"].observed / raised["log_score"].outcomes == pytest.approx(MIN_LOG_SCORE)


def test_classes_have_charts_of_their_accuracy_at_the_risk_of_each_row() -> None:
    def of_class(correct: bool, confidence: float) -> ScoredOutcome:
        return ScoredOutcome(-0.1, -0.1, -0.1, -0.1, None, correct, confidence, None)

    unsure = [of_class(place % 2 == 0, 0.5) for place in range(2_000)]
    assert advance((), unsure, NOMINAL, AT).raised == ()
    sure = [of_class(place % 2 == 0, 0.95) for place in range(200)]
    assert [chart.statistic for chart in advance((), sure, NOMINAL, AT).raised] == ["accuracy"]
