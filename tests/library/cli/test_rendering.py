from dataclasses import replace
from datetime import UTC, datetime

import pytest

from relevance_bayes.cli.versions import show_version
from relevance_bayes.client.responses import Alternative, Choice, Member, RegressionVersion
from relevance_bayes.records.models import DatasetName
from relevance_bayes.records.reports import (
    Evidence,
    Hyperparameters,
    InputTerm,
    InputWarp,
    InputWidth,
    Outlier,
    Score,
    TrainingWarning,
)

NOTHING_FOUND = Hyperparameters(
    noise_sd=None,
    degrees_of_freedom=None,
    widths=(),
    warps=(),
    terms=(),
    signal_sd=None,
    last_gain=None,
    next_gain=None,
)

VERSION = RegressionVersion(
    model="speed",
    version=1,
    created_at=datetime(2024, 5, 1, tzinfo=UTC),
    job_id="1",
    target="y",
    target_kind="number",
    classes=(),
    inputs=(),
    ignored=(),
    likelihood={"type": "gaussian", "noise_sd": "learned"},
    basis=(),
    prior={"type": "independent"},
    algorithm={"type": "sequential"},
    standardised=True,
    missing="error",
    split={"type": "random"},
    holdout=0.0,
    seed=0,
    hyperparameters=replace(NOTHING_FOUND, noise_sd=0.5, signal_sd=1.5),
    evidence=Evidence(-1.0, "exact", 0.0, 0.0),
    functions=1,
    candidates=2,
    rows=3,
    rows_dropped=0,
    rows_held_out=0,
    termination="converged",
    metrics={},
    members=(),
    integrated_evidence=None,
    alternatives=(),
    outliers=(),
    dataset=DatasetName("2", "ab"),
    seconds=1.0,
    software_version="0.1.0",
)


def facts(version: RegressionVersion, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The facts of a version by name; of those of several lines all, without the verdict before them."""
    show_version(version)
    _, _, table = capsys.readouterr().out.partition("\n\n")
    found: dict[str, str] = {}
    name = ""
    for line in table.splitlines():
        heading, _, value = line.partition("  ")
        name = heading or name
        found[name] = f"{found[name]}\n{value.strip()}" if name in found else value.strip()
    return found


@pytest.mark.parametrize(
    ("likelihood", "noise", "process"),
    [
        ({"type": "gaussian", "noise_sd": "learned"}, "0.5", "1.5"),
        ({"type": "log_gaussian"}, "0.5 (of log y)", "1.5 (of log y)"),
        ({"type": "poisson"}, None, "1.5 (of the log rate)"),
    ],
)
def test_a_spread_is_reported_with_what_it_is_of(
    likelihood: Choice, noise: str | None, process: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = replace(VERSION.hyperparameters, noise_sd=0.5 if noise else None)
    reported = facts(replace(VERSION, likelihood=likelihood, hyperparameters=found), capsys)
    assert (reported.get("noise sd"), reported["signal sd"]) == (noise, process)
    assert reported["likelihood"] == str(likelihood["type"]).replace("_", " ")
    assert "outliers" not in reported


@pytest.mark.parametrize(
    ("count", "given"),
    [(1, "row 1"), (8, "rows 1, 2, 3, 4, 5, 6, 7, 8"), (10, "rows 1, 2, 3, 4, 5, 6, 7, 8 and 2 more")],
)
def test_heavy_tails_are_reported_with_the_rows_that_they_are_for(
    count: int, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    version = replace(
        VERSION,
        likelihood={"type": "student_t", "degrees_of_freedom": "learned"},
        hyperparameters=replace(VERSION.hyperparameters, degrees_of_freedom=2.5),
        outliers=tuple(Outlier(row, 0.1) for row in range(count)),
    )
    reported = facts(version, capsys)
    assert reported["likelihood"] == "student t with 2.5 degrees of freedom"
    assert reported["outliers"] == given


def test_warnings_are_reported_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    detail = "`z` lies far outside its other values (-3 to 3): row 18 of the data is left out."
    assert facts(replace(VERSION, warnings=(TrainingWarning("outlying_input", detail),)), capsys)["warning"] == detail
    assert "warning" not in facts(VERSION, capsys)


def alternative(
    prior: str, likelihood: str, score: float | None, functions: int | None = 7, kind: str = "integrated_evidence"
) -> Alternative:
    reason = "could not be fitted" if score is None else None
    return Alternative(None, {"type": prior}, {"type": likelihood}, functions, kind, score, reason)


def test_what_was_compared_is_reported_with_how_far_it_is_behind(capsys: pytest.CaptureFixture[str]) -> None:
    others = alternative("independent", "gaussian", -141.5), alternative("gaussian_process", "log_gaussian", -98.0)
    reported = facts(replace(VERSION, integrated_evidence=-100.25, alternatives=others), capsys)
    assert reported["compared models"] == (
        "independent with gaussian noise: its integrated evidence is 41.2 nats lower\n"
        "gaussian process with log gaussian noise: its integrated evidence is 2.25 nats higher"
    )
    others = (
        alternative("gaussian_process", "log_gaussian", -200.25, functions=None),
        alternative("gaussian_process", "student_t", None, kind="fold_log_density"),
    )
    assert facts(replace(VERSION, integrated_evidence=-100.25, alternatives=others), capsys)["compared models"] == (
        "gaussian process with log gaussian noise: its integrated evidence is 100 nats lower, given up before its fit "
        "ended\n"
        "gaussian process with student t noise: could not be fitted"
    )


def test_evidence_is_reported_with_its_kind_and_what_is_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(VERSION, capsys)["log evidence"] == "-1.00 nats"
    bound = facts(replace(VERSION, evidence=Evidence(-2.0, "lower_bound", -0.5, 3.0)), capsys)
    assert bound["log evidence"] == "-2.00 nats or more (a lower bound), log hyperprior -0.50, price 3.00"
    assert "log evidence" not in facts(replace(VERSION, evidence=None), capsys)


def test_there_is_nothing_to_report_where_nothing_was_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert "compared" not in facts(VERSION, capsys)


def test_what_folds_judged_is_reported_by_kernel_and_widths(capsys: pytest.CaptureFixture[str]) -> None:
    each: Choice = {
        "type": "kernel",
        "kernel": {"type": "city_block"},
        "width": {"type": "evidence_per_input", "shrinkage": 1.0},
    }
    one: Choice = {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "evidence"}}
    process: Choice = {"type": "gaussian_process"}
    others = (
        Alternative(each, process, {"type": "bernoulli"}, None, "fold_log_density", -0.25, None),
        Alternative(one, process, {"type": "bernoulli"}, None, "fold_log_density", None, "beyond the effort"),
    )
    score = Score(-0.125, 0.01, 100, 5, None)
    reported = facts(replace(VERSION, score=score, alternatives=others), capsys)["compared models"]
    assert reported == (
        "gaussian process with bernoulli noise, city block: its score is 0.125 nats a row lower\n"
        "gaussian process with bernoulli noise, gaussian of one width: beyond the effort"
    )


def test_figures_are_reported_with_what_they_were_measured_on(capsys: pytest.CaptureFixture[str]) -> None:
    measured = {"holdout": {"rmse": 1.25}, "leave_one_out": {"rmse": 1.0, "coverage_95": 0.9375}, "moon": {"mae": 2.0}}
    reported = facts(replace(VERSION, metrics=measured), capsys)
    assert reported["on the holdout"] == "rmse 1.25"
    assert reported["leave-one-out"] == "rmse 1, coverage 95 0.9375 (a diagnostic)"
    assert reported["moon"] == "mae 2"
    on_folds = {"validation": {"error": 0.25, "rows": 12345.0}}
    assert facts(replace(VERSION, metrics=on_folds), capsys)["on folds"] == "error 0.25, 12,345 rows"


def test_a_score_is_reported_with_its_error_and_the_lack_of_one_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scored = Score(-2.5, 0.125, 1200, 5, None)
    reported = facts(replace(VERSION, score=scored, score_loss=0.0125, unreduced_functions=4800), capsys)
    assert reported["score"] == "-2.5 +- 0.125 nats a row, on 1,200 rows left out, in 5 folds"
    assert reported["score loss"] == f"0.013 nats a row, by few functions: {VERSION.functions} of 4,800"
    partly = replace(scored, folds=1, standard_error=None, reason="1 of 5 folds.")
    reported = facts(replace(VERSION, score=partly), capsys)
    assert reported["score"] == "-2.5 nats a row, on 1,200 rows left out, in 1 fold; 1 of 5 folds."
    none = Score(None, None, 0, 0, "Nothing was measured.")
    assert facts(replace(VERSION, score=none), capsys)["score"] == "none: Nothing was measured."
    assert "score" not in facts(VERSION, capsys)


@pytest.mark.parametrize(
    ("widths", "standardised", "given"),
    [
        (((None, 1.5),), True, "1.5 (as standardised)"),
        (((None, 1500.0),), True, "1500 (as standardised)"),
        ((("a", 0.5), ("b", 2.0)), True, "a 0.5, b 2 (as standardised)"),
        ((("a", 0.5), ("b", 101.0), ("c", 1e6)), True, "a 0.5 (as standardised); not used: b, c"),
        ((("a", 0.5), ("b", 101.0)), False, "a 0.5, b 101 (in the user's units)"),
        ((("b", 101.0),), True, "not used: b"),
    ],
)
def test_widths_are_reported_of_the_inputs_that_the_kernels_see(
    widths: tuple[tuple[str | None, float], ...],
    standardised: bool,
    given: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = replace(VERSION.hyperparameters, widths=tuple(InputWidth(name, width) for name, width in widths))
    assert facts(replace(VERSION, hyperparameters=found, standardised=standardised), capsys)["width"] == given
    assert "width" not in facts(VERSION, capsys)


def test_inputs_with_a_term_of_their_own_are_reported_with_their_shares(capsys: pytest.CaptureFixture[str]) -> None:
    assert "additive terms" not in facts(VERSION, capsys)
    apart = replace(VERSION.hyperparameters, terms=(InputTerm("age", 0.427), InputTerm("dose", 0.05)))
    assert facts(replace(VERSION, hyperparameters=apart), capsys)["additive terms"] == "age (43%), dose (5%)"


def test_members_are_reported_by_their_weight_or_their_class(capsys: pytest.CaptureFixture[str]) -> None:
    kernel: Choice = {"type": "matern_3_2"}
    evidence = Evidence(-2.0, "exact", 0.0, 0.0)
    found = replace(NOTHING_FOUND, widths=(InputWidth("a", 0.5),))
    process = replace(found, noise_sd=0.4, warps=(InputWarp("a", 0.1, 0.2),))
    members = (
        Member(kernel, 0.25, 7, process, evidence, evidence, None),
        Member(kernel, 0.75, 7, found, evidence, None, None),
    )
    reported = facts(replace(VERSION, members=members), capsys)
    assert reported["member 1"] == (
        "weight 0.25, matern 3 2, warped inputs, 7 functions, noise sd 0.4, width a 0.5 (as standardised), "
        "log evidence -2.00 nats"
    )
    of_class = Member(kernel, None, 3, found, evidence, None, None, "gas")
    without = Member(None, None, 1, NOTHING_FOUND, evidence, None, None, False)
    reported = facts(replace(VERSION, members=(of_class, without)), capsys)
    assert (
        reported["member 1"] == "gas, matern 3 2, 3 functions, width a 0.5 (as standardised), log evidence -2.00 nats"
    )
    assert reported["member 2"] == "false, 1 function, log evidence -2.00 nats"
    assert "member 1" not in facts(replace(VERSION, members=(of_class,)), capsys)


def test_a_temperature_is_reported_where_it_is_not_one(capsys: pytest.CaptureFixture[str]) -> None:
    for temperature, given in ((None, None), (1.0, None), (1.25, "1.25")):
        found = replace(VERSION.hyperparameters, temperature=temperature)
        assert facts(replace(VERSION, hyperparameters=found), capsys).get("temperature") == given
