from math import sqrt

import pytest

from benchmarks.tables.reporting import each, overall
from benchmarks.tables.summary import (
    agrees,
    agrees_in_coverage,
    class_summary,
    is_covered,
    is_lost,
    rankings,
    regression_summary,
    to_best,
)


def real(rmse: float, nll: float | None = None, inside: float = 9.0) -> dict[str, float]:
    figures = {"rmse": rmse, "measured": 10.0, "seconds": 1.0}
    return figures if nll is None else figures | {"nll": nll, "inside": inside}


REAL = {
    "a": {
        "ours": {0: real(1.0, 1.0, 10.0), 1: real(4.0, 1.2, 8.0)},
        "GP": {0: real(2.0, 1.1), 1: real(2.0, 1.3)},
        "trees": {0: real(3.0), 1: real(5.0)},
    },
    "b": {
        "ours": {0: real(1.2, 0.5), 1: real(1.2, 0.5)},
        "GP": {0: real(1.0, 0.4), 1: real(1.0, 0.4)},
        "trees": {0: real(0.5), 1: real(0.5)},
    },
}


def test_ratios_are_paired_by_split_and_averaged_as_logarithms() -> None:
    ours = regression_summary(REAL, ours="ours", reference="GP")["ours"]
    assert ours["rmse_ratio"] == pytest.approx(sqrt(1.0 * 1.2))
    assert ours["rmse_worst"] == pytest.approx(1.2)
    assert ours["rmse_close"] == 0.5


def test_differences_of_nll_and_pooled_coverage() -> None:
    ours = regression_summary(REAL, ours="ours", reference="GP")["ours"]
    assert ours["nll_median"] == pytest.approx(0.0)  # -.1 and +.1
    assert ours["nll_worse"] == 0.5
    assert ours["coverage"] == pytest.approx(36.0 / 40.0)


def test_an_engine_without_a_distribution_has_no_such_figures() -> None:
    trees = regression_summary(REAL, ours="ours", reference="GP")["trees"]
    assert not {"nll_median", "nll_worse", "coverage", "normalised_score"} & trees.keys()


def test_costs_are_ratios_of_cpu_times_in_the_geometric_mean() -> None:
    def timed(seconds: float) -> dict[int, dict[str, float]]:
        return {0: {"rmse": 1.0, "measured": 10.0, "seconds": seconds}}

    tables = {"a": {"ours": timed(1.0), "GP": timed(4.0)}, "b": {"ours": timed(3.0), "GP": timed(3.0)}}
    found = regression_summary(tables, ours="ours", reference="GP")
    assert found["GP"]["cpu_ratio"] == pytest.approx(0.5)
    assert found["ours"]["cpu_ratio"] == 1.0


def test_ranks_wins_and_normalised_scores() -> None:
    by_rmse, by_nll = rankings(REAL, "rmse"), rankings(REAL, "nll")
    assert {name: one.mean_rank for name, one in by_rmse.items()} == {"ours": 2.5, "GP": 1.5, "trees": 2.0}
    assert {name: one.wins for name, one in by_rmse.items()} == {"ours": 0.0, "GP": 0.5, "trees": 0.5}
    assert {name: one.normalised for name, one in by_nll.items()} == {"ours": 0.5, "GP": 0.5}


def test_a_draw_shares_rank_and_win() -> None:
    same = {"a": {"one": {0: {"rmse": 1.0}}, "two": {0: {"rmse": 1.0}}, "three": {0: {"rmse": 2.0}}}}
    found = rankings(same, "rmse")
    assert (found["one"].mean_rank, found["one"].wins) == (1.5, 0.5)
    assert (found["three"].mean_rank, found["three"].normalised) == (3.0, 0.0)


def test_a_table_is_lost_above_1_05_and_two_paired_standard_errors() -> None:
    one = {number: {"rmse": 1.1 + 0.01 * number} for number in range(4)}
    other = {number: {"rmse": 1.0} for number in range(4)}
    assert is_lost(one, other)
    assert not is_lost(other, other)
    assert not is_lost({number: {"rmse": 1.04} for number in range(4)}, other)
    assert not is_lost({0: {"rmse": 3.0}, 1: {"rmse": 0.5}}, {0: {"rmse": 1.0}, 1: {"rmse": 1.0}})  # too few to report


@pytest.mark.parametrize(
    ("inside", "measured", "covered"),
    [
        (930.0, 1_000.0, True),
        (970.0, 1_000.0, True),
        (929.0, 1_000.0, False),
        (971.0, 1_000.0, False),
        (36.0, 40.0, True),
    ],
)
def test_a_table_is_covered_by_the_share_of_its_targets_or_by_chance(
    inside: float, measured: float, covered: bool
) -> None:
    assert is_covered({0: {"inside": inside, "measured": measured}}) == covered


def test_figures_by_folds_agree_within_two_standard_errors() -> None:
    one = {"nll": 1.0, "nll_se": 0.3, "by_folds_nll": 1.9, "by_folds_nll_se": 0.4}
    assert agrees(one, "nll")  # .9 of 2 x .5
    assert not agrees({**one, "by_folds_nll": 2.1}, "nll")
    rows = {"by_folds_rows": 100.0, "measured": 100.0, "inside": 90.0}
    assert agrees_in_coverage({**rows, "by_folds_coverage_95": 0.96})  # .06 of 2 x .036
    assert not agrees_in_coverage({**rows, "by_folds_coverage_95": 0.98})


def loss(log_loss: float) -> dict[str, float]:
    return {"log_loss": log_loss, "error": 0.1, "ece": 0.05, "seconds": 1.0, "measured": 10.0}


CLASSES = {
    "a": {"ours": {0: loss(0.3)}, "SVC": {0: loss(0.2)}, "logistic": {0: loss(0.4)}},
    "b": {"ours": {0: loss(0.6)}, "SVC": {0: loss(0.55)}, "logistic": {0: loss(0.5)}},
}


def test_log_losses_beside_the_best_peer_and_the_logistic_regression() -> None:
    found = class_summary(CLASSES, ours="ours", reference="logistic")
    assert found["ours"]["log_loss"] == pytest.approx(0.45)
    assert found["ours"]["close_to_best"] == 0.5  # 1.5 and 1.2
    assert found["ours"]["worst_behind"] == pytest.approx(0.1)
    assert found["logistic"]["worst_behind"] == 0.0


def test_the_best_peer_is_neither_ours_nor_the_engine_itself() -> None:
    assert to_best(CLASSES["a"], "ours", ours="ours") == pytest.approx(1.5)
    assert to_best(CLASSES["a"], "SVC", ours="ours") == pytest.approx(0.5)


def test_a_table_without_our_figures_is_counted_as_missing() -> None:
    partly = {**REAL, "c": {"GP": {0: real(1.0, 0.1)}, "ours": {}}}
    ours = regression_summary(partly, ours="ours", reference="GP")["ours"]
    assert (ours["tables"], ours["missing"]) == (2.0, 1.0)


def test_the_report_has_a_row_for_each_engine_and_each_table() -> None:
    table = overall("regression", regression_summary(REAL, ours="ours", reference="GP"), "Open tables", splits=2)
    assert [row[0] for row in table.rows] == ["ours", "GP", "trees"]
    assert [row[0] for row in each(REAL, "regression", "Open tables").rows] == ["a", "b"]
    assert [row[0] for row in each(CLASSES, "classification", "Open tables").rows] == ["a", "b"]
    assert "1.095" in table.text()
