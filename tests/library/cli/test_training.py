import json
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import pytest
import typer

from relevance_bayes.cli.options import (
    WIDTH_SEARCHES,
    covariance_name,
    covariances,
    kernel_name,
    kernels,
    likelihood_name,
    likelihoods,
)
from relevance_bayes.cli.remedies import OPTIONS
from relevance_bayes.cli.training import WITHOUT_TARGET, TrainOptions, train, training_document
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels import Kernel as KernelUnion
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, Width
from relevance_bayes.core.likelihoods import TargetLikelihood as LikelihoodUnion
from relevance_bayes.tasks.supervised.request import LocalOption, PriorChoice, SupervisedRequest


def test_options_are_spelled_out_as_the_api_wants_them() -> None:
    choices = TrainOptions(
        target="y",
        inputs=["a", "b"],
        prior="independent",
        kernel="linear_spline",
        width="0.5",
        noise_sd="0.1",
        split="group:who",
        validation=5,
    )
    assert training_document(choices, None) == {
        "target": "y",
        "inputs": ["a", "b"],
        "prior": {"type": "independent"},
        "basis": {"type": "kernel", "kernel": {"type": "linear_spline"}, "width": {"type": "fixed", "value": 0.5}},
        "likelihood": {"type": "gaussian", "noise_sd": 0.1},
        "split": {"type": "group", "column": "who"},
        "validation": {"folds": 5},
    }


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("random", {"type": "random"}),
        ("order", {"type": "order"}),
        ("order:when", {"type": "order", "column": "when"}),
        ("group:a:b", {"type": "group", "column": "a:b"}),
    ],
    ids=["random", "order", "order by column", "column with a colon"],
)
def test_a_split_is_spelled_out(text: str, split: dict[str, str]) -> None:
    assert training_document(TrainOptions(target="y", split=text), None)["split"] == split


def test_what_is_not_stated_is_left_to_the_service() -> None:
    requested = TrainOptions(target="y", prior="gaussian_process", kernel="matern_5_2")
    assert training_document(requested, None) == {
        "target": "y",
        "prior": {"type": "gaussian_process"},
        "basis": {"type": "kernel", "kernel": {"type": "matern_5_2"}},
    }
    assert "basis" not in training_document(TrainOptions(target="y", prior="gaussian_process"), None)


def test_the_options_are_the_members_of_the_unions() -> None:
    assert set(kernels()) == {member().type for member in get_args(KernelUnion)}
    assert set(covariances()) == {member().type for member in get_args(Covariance)}
    of_targets = {member().type for member in get_args(LikelihoodUnion)} - {"log_variance"}
    assert set(likelihoods()) == of_targets
    for named, names in (
        (kernel_name, kernels),
        (covariance_name, covariances),
        (likelihood_name, likelihoods),
    ):
        first, *_ = names()
        assert named(first) == first
        with pytest.raises(typer.BadParameter, match=f"'no such' is not one of {first}, "):
            named("no such")
    assert set(WIDTH_SEARCHES) == {member.type for member in get_args(Width) if member is not FixedWidth}


@pytest.mark.parametrize(
    ("likelihood", "noise_sd", "spelled"),
    [
        ("poisson", None, {"type": "poisson"}),
        ("gaussian", None, {"type": "gaussian"}),
        ("gaussian", "0.5", {"type": "gaussian", "noise_sd": 0.5}),
        (None, "0.5", {"type": "gaussian", "noise_sd": 0.5}),
        (None, "heteroscedastic", {"type": "gaussian", "noise_sd": "heteroscedastic"}),
    ],
)
def test_a_likelihood_is_spelled_out(
    likelihood: str | None, noise_sd: str | None, spelled: dict[str, str | float]
) -> None:
    choices = TrainOptions(target="y", likelihood=likelihood, noise_sd=noise_sd)
    assert training_document(choices, None)["likelihood"] == spelled


def test_noise_by_row_is_spelled_out_with_its_column() -> None:
    spelled = {"type": "gaussian", "noise_sd": {"column": "sd"}}
    assert training_document(TrainOptions(target="y", noise_column="sd"), None)["likelihood"] == spelled
    assert (
        training_document(TrainOptions(target="y", likelihood="gaussian", noise_column="sd"), None)["likelihood"]
        == spelled
    )
    with pytest.raises(typer.BadParameter, match="poisson has no noise of a known sd"):
        training_document(TrainOptions(target="y", likelihood="poisson", noise_column="sd"), None)
    with pytest.raises(typer.BadParameter, match="not both"):
        training_document(TrainOptions(target="y", noise_sd="0.5", noise_column="sd"), None)


def test_noise_of_a_known_sd_is_gaussian() -> None:
    with pytest.raises(typer.BadParameter, match="student_t has no noise of a known sd"):
        training_document(TrainOptions(target="y", likelihood="student_t", noise_sd="0.5"), None)


@pytest.mark.parametrize("way", WIDTH_SEARCHES)
def test_a_way_to_find_the_width_is_spelled_out(way: str) -> None:
    document = training_document(TrainOptions(target="y", width=way), None)
    assert document["basis"] == {"type": "kernel", "width": {"type": way}}


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), ("0.5,2,1e-3", [0.5, 2.0, 1e-3])])
def test_a_width_is_a_number_or_one_for_each_input(text: str, value: float | list[float]) -> None:
    document = training_document(TrainOptions(target="y", width=text), None)
    assert document["basis"] == {"type": "kernel", "width": {"type": "fixed", "value": value}}


@pytest.mark.parametrize("text", ["wide", "0.5,wide", "0.5,"])
def test_what_is_no_width_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="neither a number, nor numbers with commas between"):
        training_document(TrainOptions(target="y", width=text), None)


@pytest.mark.parametrize("task", WITHOUT_TARGET)
def test_a_task_that_predicts_nothing_needs_no_target(task: str, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"task": task}))
    assert training_document(TrainOptions(model="few"), request) == {"task": task, "model": "few"}
    request.write_text("{}")
    with pytest.raises(typer.BadParameter, match="pass the column to predict"):
        training_document(TrainOptions(), request)


def test_options_win_over_the_request_file(tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"target": "x", "seed": 3, "algorithm": {"type": "sequential"}}))
    document = training_document(TrainOptions(target="y"), request)
    assert document == {"target": "y", "seed": 3, "algorithm": {"type": "sequential"}}


UNLIKE = {"inputs", "prior", "local", "likelihood", "split", "validation", "budget", "positive_class"}
"""Options whose value is another than that of the member: a name, or a number of several."""


def test_an_option_of_the_request_is_an_option_of_the_command() -> None:
    options = {one.name for one in fields(TrainOptions)}
    members = {one.name for one in fields(SupervisedRequest)}
    assert options - members == {"kernel", "width", "noise_sd", "noise_column"}
    without = members - options - {"dataset_id", "basis", "algorithm", "standardise"}
    assert without == set(), "add an option for each to TrainOptions in relevance_bayes/cli/training.py"
    hints, requested = get_type_hints(train), get_type_hints(SupervisedRequest)
    for name in members & options - UNLIKE:
        assert _choices(hints[name]) == _choices(requested[name]), name
    assert _choices(hints["prior"]) == {member().type for member in get_args(PriorChoice)}
    assert _choices(hints["local"]) == {member().type for member in get_args(LocalOption)}


def test_a_message_of_the_service_names_the_option_of_a_member() -> None:
    members = {one.name for one in fields(SupervisedRequest)} & {one.name for one in fields(TrainOptions)}
    known = {path.partition("/")[0] for path in OPTIONS}
    assert members - known == set(), "add each to OPTIONS in relevance_bayes/cli/remedies.py"


def test_the_help_of_an_option_states_the_default_of_the_request() -> None:
    hints = get_type_hints(train, include_extras=True)
    for one in fields(SupervisedRequest):
        if one.name in hints and one.name not in UNLIKE and one.default not in {MISSING, None}:
            (option,) = hints[one.name].__metadata__
            default = one.name.replace("_", "-") if one.default is True else str(one.default).removesuffix(".0")
            assert option.show_default == default, one.name


def _choices(hint: object) -> set[object]:
    """The literals of a type, without None; other types themselves."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        return _choices(arguments[0])
    if not arguments:
        return set() if hint is NoneType else {hint}
    return set(arguments) if get_origin(hint) is Literal else {one for member in arguments for one in _choices(member)}
