"""When a challenger is better."""

import pytest

from app.domain.scoring import Improvement, Proof, verdict

FOUND = Improvement("nll", 100, 0, holder=1.5, challenger=1.25, estimate=0.25, lower=0.1, upper=0.4)


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
def test_what_is_proved_has_to_be_above_the_margin(margin: float, by: Proof, moves: bool) -> None:
    moved, reason = verdict(FOUND, margin=margin, by=by, lost_rows=0)
    assert moved == moves
    assert reason.startswith("nll 1.5 -> 1.25, improvement 0.25 (95 %: 0.1 to 0.4): ")
    assert reason.endswith(f"{'above' if moves else 'not above'} the margin of {margin:g}.")


def test_a_worse_challenger_is_no_improvement_in_words_either() -> None:
    worse = Improvement("rmse", 100, 0, holder=1.0, challenger=2.0, estimate=-1.0, lower=-1.5, upper=-0.5)
    assert verdict(worse, margin=0.0, by="interval", lost_rows=0) == (
        False,
        "rmse 1 -> 2, improvement -1 (95 %: -1.5 to -0.5): the interval's lower end is not above the margin of 0.",
    )


def test_a_challenger_that_answers_fewer_rows_is_not_better() -> None:
    moved, reason = verdict(FOUND, margin=0.0, by="interval", lost_rows=1200)
    assert not moved
    assert "no nll for 1,200 rows" in reason


def test_no_rows_prove_nothing() -> None:
    nothing = Improvement("nll", 0, 5, None, None, None, None, None)
    assert verdict(nothing, margin=0.0, by="estimate", lost_rows=0) == (
        False,
        "There is no row on which both have a nll.",
    )
