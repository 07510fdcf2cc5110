from dataclasses import replace
from math import log

import pytest

from relevance_bayes.cli.verdict import verdict
from relevance_bayes.client.responses import ClassificationVersion, Member, SupervisedVersion
from relevance_bayes.records.reports import ClassRows, InputWidth, LocalReport, Score
from relevance_bayes.records.values import InputColumn
from tests.library.cli.test_rendering import NOTHING_FOUND, VERSION

SCORED = replace(VERSION, rows=100, score=Score(-2.0, 0.1, 100, 5, None))
COLUMNS = {"age": "number", "colour": "category", "dose": "number"}


def sentences(version: SupervisedVersion) -> list[str]:
    """All but the first, which names the version."""
    first, *others = verdict(version)
    assert first.startswith("speed, version 1, predicts y from ")
    return others


def measured(**scores: float) -> list[str]:
    return sentences(replace(SCORED, metrics={"validation": {"rows": 100.0, **scores}}))


@pytest.mark.parametrize(
    ("r2", "beside"),
    [
        (0.99, "; predicting the mean is off by 20, 10 times as much."),
        (0.75, "; predicting the mean is off by 4, 2.0 times as much."),
        (0.05, "; predicting the mean is off by 2.05, which is hardly more."),
        (-3.0, ", which is no better than a constant: predicting the mean is off by 1."),
        (1.0, "."),
        (None, "."),
    ],
)
def test_the_error_is_beside_that_of_predicting_the_mean(r2: float | None, beside: str) -> None:
    (error,) = measured(rmse=2.0) if r2 is None else measured(rmse=2.0, r2=r2)
    assert error == (
        f"Predictions are typically off by 2 (root mean square error on 100 rows left out, in 5 folds){beside}"
    )


@pytest.mark.parametrize(
    ("coverage", "given"),
    [
        (0.95, "95 % of these rows lie within their 95 % intervals."),
        (0.99, "99 % of these rows lie within their 95 % intervals."),
        (0.9, "90 % of these rows lie within their 95 % intervals, so the intervals are too narrow."),
        (1.0, "100 % of these rows lie within their 95 % intervals, so the intervals are too wide."),
    ],
)
def test_intervals_are_called_too_narrow_or_wide_beyond_two_standard_errors(coverage: float, given: str) -> None:
    assert measured(rmse=2.0, coverage_95=coverage)[1] == given


def test_intervals_of_many_rows_may_be_two_points_off() -> None:
    def remark(coverage: float) -> str:
        metrics = {"validation": {"rmse": 2.0, "coverage_95": coverage, "rows": 1e6}}
        return sentences(replace(SCORED, metrics=metrics))[1]

    assert remark(0.965) == "96.5 % of these rows lie within their 95 % intervals."
    assert remark(0.925) == "92.5 % of these rows lie within their 95 % intervals, so the intervals are too narrow."


def test_held_out_rows_come_before_folds_and_folds_before_leave_one_out() -> None:
    metrics = {"leave_one_out": {"rmse": 1.0}, "validation": {"rmse": 2.0, "rows": 100.0}, "holdout": {"rmse": 3.0}}
    version = replace(SCORED, rows_held_out=25, metrics=metrics)
    assert sentences(version)[0] == "Predictions are typically off by 3 (root mean square error on 25 rows held out)."
    del metrics["holdout"]
    assert "off by 2 (root mean square error on 100 rows left out" in sentences(version)[0]
    del metrics["validation"]
    assert "off by 1 (root mean square error by leave-one-out, which tends to be optimistic;" in sentences(version)[0]
    assert "--validation 5" in sentences(version)[0]
    del metrics["leave_one_out"]
    none = replace(version, score=Score(None, None, 0, 0, "The fit failed."))
    assert sentences(none) == ["The error of its predictions was not measured. The fit failed."]


def test_classes_are_beside_their_frequencies() -> None:
    given = {name: value for name, value in vars(VERSION).items() if name != "task"}
    version = ClassificationVersion(**given)
    version = replace(
        version,
        classes=("no", "yes"),
        class_rows=(ClassRows("no", 75), ClassRows("yes", 25)),
        score=SCORED.score,
        metrics={"validation": {"error": 0.15, "log_loss": 0.4, "rows": 100.0}},
    )
    frequencies = -0.75 * log(0.75) - 0.25 * log(0.25)
    accuracy, loss = sentences(version)
    assert accuracy == (
        "The class is right for 85 % (on 100 rows left out, in 5 folds); always predicting the most frequent class is "
        "right for 75 %."
    )
    assert loss == f"The log loss is 0.4 nats; predicting the class frequencies for every row has {frequencies:.3g}."
    worse = replace(version, metrics={"validation": {"log_loss": 0.6, "rows": 100.0}})
    assert sentences(worse)[0].endswith("has 0.562, which is no better.")


def of_inputs(*widths: tuple[str | None, float], linear: bool = False, n: int = 3) -> str | None:
    """The sentence on the inputs of a version whose kernels have these widths."""
    found = replace(NOTHING_FOUND, widths=tuple(InputWidth(name, width) for name, width in widths))
    names = [*COLUMNS, *(f"z{i}" for i in range(n - 3))]
    version = replace(
        VERSION,
        metrics={"leave_one_out": {"rmse": 1.0}},
        inputs=tuple(InputColumn(name, "number") for name in names),
        basis=({"type": "kernel"}, {"type": "inputs"}) if linear else ({"type": "kernel"},),
        members=(Member(None, None, 1, found, None, None, None),),
    )
    return dict(enumerate(sentences(version))).get(1)


def test_inputs_are_named_in_the_order_of_their_relevance() -> None:
    widths = (("age", 5.0), ("colour=red", 300.0), ("colour=blue", 2.0), ("dose", 1000.0))
    assert of_inputs(*widths) == "colour and age matter, in this order; dose does not matter."
    assert of_inputs(*widths, linear=True) == "colour and age matter, in this order; dose enters linearly at most."
    assert of_inputs(("age", 2.0), ("colour=red", 4.0), ("dose", 3.0), ("dose missing", 1.0)) == (
        "All inputs matter, in this order: age, dose and colour. Whether dose is missing matters, too."
    )
    gaps = (("age missing", 2.0), ("dose missing", 900.0), ("colour missing", 3.0))
    assert of_inputs(("age", 2.0), *gaps) == (
        "age matters; colour and dose do not matter. Whether age and colour are missing matters, too."
    )
    assert of_inputs(("age", 2.0)) == "age matters; colour and dose do not matter."
    assert of_inputs(("age", 2000.0), ("dose", 3000.0)) == "None of the 3 inputs matters."


def test_at_most_five_inputs_are_named_and_the_others_counted() -> None:
    seen = [(f"z{i}", 1.0 + i) for i in range(7)]
    assert of_inputs(*seen, n=20) == "z0, z1, z2, z3, z4 and 2 more matter, in this order; 13 others do not matter."


def test_a_width_that_inputs_share_ranks_none() -> None:
    assert of_inputs((None, 2.0)) is None


def test_a_member_counts_by_its_weight() -> None:
    def member(weight: float, age: float, dose: float) -> Member:
        found = replace(NOTHING_FOUND, widths=(InputWidth("age", age), InputWidth("dose", dose)))
        return Member(None, weight, 1, found, None, None, None)

    version = replace(
        VERSION,
        inputs=(InputColumn("age", "number"), InputColumn("dose", "number")),
        members=(member(0.9, 1.0, 2.0), member(0.1, 2.0, 1.0)),
    )
    assert sentences(version)[1] == "All inputs matter, in this order: age and dose."


def test_a_member_whose_inputs_share_a_width_does_not_count() -> None:
    def member(*widths: InputWidth) -> Member:
        return Member(None, 0.5, 1, replace(NOTHING_FOUND, widths=widths), None, None, None)

    version = replace(
        VERSION,
        inputs=(InputColumn("age", "number"), InputColumn("dose", "number")),
        members=(member(InputWidth(None, 1.0)), member(InputWidth("age", 2.0), InputWidth("dose", 900.0))),
    )
    assert sentences(version)[1] == "age matters; dose does not matter."


def test_a_version_that_predicts_from_nearest_rows_needs_no_function() -> None:
    nearest_rows = LocalReport("targets", 32, 6000, 2**20, 1000, None, None, None, ())
    nearest = sentences(replace(VERSION, functions=0, local=nearest_rows))[1:]
    assert nearest == ["It predicts from the 32 rows that are nearest, of 6,000 that it keeps."]
    refused = replace(nearest_rows, on=None, neighbours=None, rows=0)
    assert sentences(replace(VERSION, functions=1, local=refused))[1:] == []


def test_a_version_without_functions_predicts_a_constant() -> None:
    assert sentences(replace(VERSION, functions=0))[1] == ("No function was kept: it predicts a constant.")
