"""When a challenger is better, and how often an equal one passes for better."""

from dataclasses import replace

import pytest

from app.evaluation.metrics.paired import verdict
from benchmarks.promotion import DESIGNS, DIFFERENCES, Design, false_promotions
from relevance_bayes.records.evaluations import Criterion, Improvement

FOUND = Improvement("nll", 100, 0, champion=1.5, challenger=1.25, estimate=0.25, lower=0.1, upper=0.4)


@pytest.mark.parametrize(
    ("margin", "by", "moves"),
    [
        (0.0, "interval", True),
        (0.1, "interval", False),
        (0.2, "interval", False),
        (0.2, "estimate", True),
        (0.25, "estimate", False),
    ],
)
def test_what_is_proved_has_to_be_above_the_margin(margin: float, by: Criterion, moves: bool) -> None:
    moved, reason = verdict(FOUND, margin=margin, by=by, lost_rows=0)
    assert moved == moves
    assert reason.startswith("nll 1.500 -> 1.250, improvement 0.25 (95 %: 0.1 to 0.4): ")
    assert reason.endswith(f"{'above' if moves else 'not above'} the margin of {margin:g}.")


def test_a_worse_challenger_is_no_improvement_in_words_either() -> None:
    worse = Improvement("rmse", 100, 0, champion=1.0, challenger=2.0, estimate=-1.0, lower=-1.5, upper=-0.5)
    assert verdict(worse, margin=0.0, by="interval", lost_rows=0) == (
        False,
        (
            "rmse 1.000 -> 2.000, improvement -1 (95 %: -1.5 to -0.5): "
            "the interval's lower end is not above the margin of 0."
        ),
    )


def test_a_challenger_that_predicts_fewer_rows_is_not_better() -> None:
    moved, reason = verdict(FOUND, margin=0.0, by="interval", lost_rows=1200)
    assert not moved
    assert "no nll for 1,200 rows" in reason


@pytest.mark.parametrize("by", ["interval", "estimate"])
@pytest.mark.parametrize(
    ("rows", "groups", "effective", "expected"),
    [
        (1, None, None, "only 1 row was compared, and at least 30 are needed"),
        (29, None, None, "only 29 rows were compared, and at least 30 are needed"),
        (300, 9, 9.0, "only 9 groups were compared, and at least 10 are needed"),
        (300, 30, 4.25, "only 30 groups were compared, as good as 4.2 of equal size, and at least 10 are needed"),
    ],
)
def test_too_few_rows_or_groups_move_nothing(
    by: Criterion, rows: int, groups: int | None, effective: float | None, expected: str
) -> None:
    found = replace(FOUND, rows=rows, groups=groups, effective_groups=effective)
    moved, reason = verdict(found, margin=0.0, by=by, lost_rows=0)
    assert not moved
    assert reason.endswith(f", but {expected}.")


@pytest.mark.parametrize(("rows", "groups"), [(30, None), (30, 10)])
def test_just_enough_rows_or_groups_move_it(rows: int, groups: int | None) -> None:
    found = replace(FOUND, rows=rows, groups=groups, effective_groups=groups)
    assert verdict(found, margin=0.0, by="interval", lost_rows=0)[0]


@pytest.mark.thorough
@pytest.mark.parametrize("design", [design for design in DESIGNS if sum(design.sizes) <= 300], ids=lambda one: one.name)
@pytest.mark.parametrize("name", ["normal", "exponential, long tail of losses", "error 0/1, six in 10 rows differ"])
def test_equal_versions_are_rarely_taken_for_unequal(name: str, design: Design) -> None:
    draws = 600
    promoted = round(draws * false_promotions(design, DIFFERENCES[name], draws))
    # At 3 % at most 28 of 600 with a probability of .993.
    assert promoted <= 28


def test_a_challenger_that_is_better_is_promoted_more_often_than_not() -> None:
    for design in (Design.alone(30), Design.alone(100), Design("30 groups of 10", (10,) * 30, grouped=True)):
        assert false_promotions(design, DIFFERENCES["normal"], 300, gain=2.8) > 0.55, design.name


def test_no_rows_prove_nothing() -> None:
    nothing = Improvement("nll", 0, 5, None, None, None, None, None)
    assert verdict(nothing, margin=0.0, by="estimate", lost_rows=0) == (
        False,
        "Expected rows for which both versions have a nll, got none.",
    )


@pytest.mark.parametrize(
    ("champion", "challenger", "shown"),
    [
        (5.4401, 3.44661, "5.440 -> 3.447"),
        (0.12345, 0.123451, "0.123450 -> 0.123451"),
        (1234.0, 0.5, "1234 -> 0.5000"),
        (2.0, 2.0, "2.00000 -> 2.00000"),
    ],
)
def test_both_scores_have_the_digits_that_distinguish_them(champion: float, challenger: float, shown: str) -> None:
    gain = champion - challenger
    found = Improvement("rmse", 100, 0, champion, challenger, estimate=gain, lower=gain, upper=gain)
    _, reason = verdict(found, margin=0.0, by="estimate", lost_rows=0)
    assert reason.startswith(f"rmse {shown}, improvement ")
