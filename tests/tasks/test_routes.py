"""Training jobs over HTTP: requested, read, waited for, ended."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Timer
from typing import get_args
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from app.http.bodies import checked
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.records import Claim, JobFailure
from app.jobs.repository import JobRepository
from app.registry.trainings import TRAINING
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import Progress, Transition
from tests.applications import DATASET, NOW, SUBMIT, SmallParts
from tests.problems import assert_problem

PATH = "/v1/training-jobs"
UNKNOWN = "01900000-0000-7000-8000-00000000dead"
COLUMNS = "`x`, `colour`, `y`, `known`, `same`, `one`, `three`, `gaps`"
KERNELS = ", ".join(repr(kernel().type) for kernel in get_args(Kernel))
Errors = Sequence[Mapping[str, str | int]]


def submitted(client: TestClient, **more: object) -> UUID:
    response = client.post(PATH, json={**SUBMIT, **more})
    assert response.status_code == 202, response.text
    return UUID(response.json()["id"])


EACH: dict[str, object] = {"type": "evidence_per_input", "shrinkage": 0.0}


def kernel(name: str, width: dict[str, object], warp: str) -> dict[str, object]:
    return {"type": "kernel", "kernel": {"type": name}, "width": width, "warp": warp, "additive": "none"}


def test_a_job_is_accepted_with_every_choice_that_was_made_for_it(client: TestClient, parts: SmallParts) -> None:
    response = client.post(PATH, json=SUBMIT)
    job = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"{PATH}/{job['id']}"
    assert parts.stored.queue.submitted == [UUID(job["id"])]
    assert job == {
        "id": job["id"],
        "state": "queued",
        "created_at": "2024-05-01T13:00:00Z",
        "started_at": None,
        "finished_at": None,
        "cancel_requested_at": None,
        "attempt": 0,
        "resumed_from": None,
        "progress": None,
        "version": None,
        "error": None,
        "transitions": [
            {"state": "queued", "at": "2024-05-01T13:00:00Z", "attempt": 0, "reason": None, "resumed_from": None}
        ],
        "dataset_id": str(DATASET.id),
        "model": "points",
        "priority": 0,
        "retry_of": None,
        "task": "regression",
        "task_reason": "`y` holds numbers, so it is predicted as a quantity.",
        "target": "y",
        "classes": [],
        "inputs": [
            {"name": "x", "kind": "number", "categories": []},
            {"name": "colour", "kind": "category", "categories": ["blue", "red"]},
        ],
        "ignored": [],
        "likelihood": {"type": "gaussian", "noise_sd": "learned"},
        "basis": [kernel("gaussian", EACH, "none"), {"type": "bias"}, {"type": "inputs"}],
        "prior": {
            "type": "gaussian_process",
            "inducing_points": "rows",
            "min_gain": 2.0,
            "max_functions": None,
            "rho": 0.0,
        },
        "algorithm": {"max_iterations": None, "max_rows": None, "type": "greedy"},
        "compared_models": [
            {
                "prior": {
                    "type": "gaussian_process",
                    "inducing_points": "optimised",
                    "min_gain": 2.0,
                    "max_functions": None,
                    "rho": 0.0,
                },
                "likelihood": {"type": "log_gaussian"},
            },
            {
                "prior": {"type": "independent", "price": True, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
                "likelihood": {"type": "gaussian", "noise_sd": "learned"},
            },
            {
                "prior": {
                    "type": "gaussian_process",
                    "inducing_points": "optimised",
                    "min_gain": 2.0,
                    "max_functions": None,
                    "rho": 0.0,
                },
                "likelihood": {"type": "student_t", "degrees_of_freedom": "learned"},
            },
            {
                "prior": {
                    "type": "gaussian_process",
                    "inducing_points": "rows",
                    "min_gain": 2.0,
                    "max_functions": None,
                    "rho": 0.0,
                },
                "likelihood": {"type": "gaussian", "noise_sd": "heteroscedastic"},
            },
        ],
        "standardise": True,
        "missing": "error",
        "missing_reason": "No column has missing values.",
        "dates": "time",
        "text": "leave_out",
        "keep_rows": True,
        "split": {"type": "random"},
        "holdout": 0.0,
        "validation": None,
        "seed": 0,
        "effort": "normal",
        "max_score_loss": 0.01,
        "pool": [
            kernel("matern_3_2", EACH, "none"),
            kernel("gaussian", {"type": "evidence"}, "none"),
            kernel("gaussian", EACH, "evidence"),
        ],
        "alternatives": [],
        "local": None,
        "budget": None,
        "positive_class": None,
        "expected_cost": job["expected_cost"],
    }


@pytest.mark.parametrize(
    ("requested", "resolved"),
    [
        (
            {"target": "known"},
            {
                "task": "classification",
                "classes": [False, True],
                "likelihood": {"type": "bernoulli", "temperature": "learned"},
            },
        ),
        (
            {"target": "three"},
            {
                "task": "classification",
                "classes": ["a", "b", "c"],
                "likelihood": {"type": "bernoulli_per_class", "classes": 3, "temperature": "learned"},
                "compared_models": [],
            },
        ),
        (
            {"target": "three", "prior": {"type": "independent"}},
            {
                "likelihood": {"type": "categorical", "classes": 3, "temperature": "learned"},
                "prior": {"type": "independent", "price": False, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
                "algorithm": {"type": "sequential", "ascent": "inner"},
            },
        ),
        (
            {"target": "known", "likelihood": {"type": "categorical"}},
            {"classes": [False, True], "likelihood": {"type": "categorical", "classes": 2, "temperature": "learned"}},
        ),
        ({"task": None}, {"task": "regression"}),
        ({"task": "regression"}, {"task": "regression", "task_reason": "`task` requests regression."}),
        ({"holdout": 0}, {"holdout": 0.0}),
        ({"validation": {"folds": 3}}, {"validation": {"folds": 3}}),
        ({"validation": {}}, {"validation": {"folds": 5}}),
        ({"seed": 12}, {"seed": 12}),
        ({"model": "other"}, {"model": "other"}),
        ({"likelihood": {"type": "gaussian", "noise_sd": 1}}, {"likelihood": {"type": "gaussian", "noise_sd": 1.0}}),
        (
            {"likelihood": {"type": "gaussian", "noise_sd": "learned"}},
            {"likelihood": {"type": "gaussian", "noise_sd": "learned"}},
        ),
        (
            {"likelihood": {"type": "gaussian", "noise_sd": {"column": "same"}}},
            {"likelihood": {"type": "gaussian", "noise_sd": {"column": "same"}}},
        ),
        ({"likelihood": {"type": "student_t"}}, {"likelihood": {"type": "student_t", "degrees_of_freedom": "learned"}}),
        (
            {"likelihood": {"type": "student_t", "degrees_of_freedom": 4}},
            {"likelihood": {"type": "student_t", "degrees_of_freedom": 4.0}},
        ),
        ({"likelihood": {"type": "log_gaussian"}}, {"likelihood": {"type": "log_gaussian"}}),
        (
            {"algorithm": {"type": "re_estimation", "update": "em"}},
            {"algorithm": {"type": "re_estimation", "update": "em"}},
        ),
        (
            {"prior": {"type": "independent"}},
            {
                "prior": {"type": "independent", "price": False, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
                "algorithm": {"type": "sequential", "ascent": "inner"},
                "basis": [
                    {
                        "type": "kernel",
                        "kernel": {"type": "gaussian"},
                        "width": {"type": "cross_validation", "folds": 5},
                        "warp": "none",
                        "additive": "none",
                    },
                    {"type": "bias"},
                ],
                "compared_models": [],
            },
        ),
        ({"split": {"type": "order"}}, {"split": {"type": "order", "column": None}}),
        (
            {"basis": {"type": "kernel", "width": {"type": "fixed", "value": 2}}},
            {
                "basis": [
                    {
                        "type": "kernel",
                        "kernel": {"type": "gaussian"},
                        "width": {"type": "fixed", "value": 2.0},
                        "warp": "none",
                        "additive": "none",
                    },
                    {"type": "bias"},
                    {"type": "inputs"},
                ],
                "standardise": False,
            },
        ),
        (
            {"prior": {"type": "gaussian_process", "rho": 0.3}},
            {
                "prior": {
                    "type": "gaussian_process",
                    "inducing_points": "optimised",
                    "min_gain": 2.0,
                    "max_functions": None,
                    "rho": 0.3,
                }
            },
        ),
        (
            {"prior": {"type": "gaussian_process", "min_gain": 2.5, "max_functions": 40}},
            {
                "prior": {
                    "type": "gaussian_process",
                    "inducing_points": "optimised",
                    "min_gain": 2.5,
                    "max_functions": 40,
                    "rho": 0.0,
                },
                "algorithm": {"max_iterations": None, "max_rows": None, "type": "greedy"},
                "basis": [
                    {
                        "type": "kernel",
                        "kernel": {"type": "gaussian"},
                        "width": {"type": "evidence_per_input", "shrinkage": 0.0},
                        "warp": "evidence",
                        "additive": "none",
                    },
                    {"type": "bias"},
                    {"type": "inputs"},
                ],
                "standardise": True,
            },
        ),
        (
            {"basis": [{"type": "kernel", "kernel": {"type": "linear_spline"}, "width": {"type": "evidence"}}]},
            {
                "basis": [
                    {
                        "type": "kernel",
                        "kernel": {"type": "linear_spline"},
                        "width": {"type": "evidence"},
                        "warp": "none",
                        "additive": "none",
                    }
                ]
            },
        ),
    ],
)
def test_what_is_stated_is_done(client: TestClient, requested: dict[str, object], resolved: dict[str, object]) -> None:
    job = client.post(PATH, json={**SUBMIT, **requested}).json()
    assert {name: job[name] for name in resolved} == resolved


def test_an_automatic_prior_is_the_default(client: TestClient) -> None:
    given = client.post(PATH, json={**SUBMIT, "prior": {"type": "automatic"}}).json()
    unsaid = client.post(PATH, json=SUBMIT).json()
    assert given | {"id": unsaid["id"]} == unsaid


NO_TASK = "Should be 'regression', 'classification', 'approximation', 'image' or 'components', or left out."


def at(pointer: str, detail: str) -> tuple[str, Errors]:
    """The error of one member that can't be parsed."""
    return f"At {pointer}: {detail}", [{"pointer": pointer, "detail": detail}]


def plainly(pointer: str, detail: str, column: str | None = None) -> tuple[str, Errors]:
    """The error of one member that contradicts the data."""
    return detail, [{"pointer": pointer, **({"column": column} if column else {}), "detail": detail}]


@pytest.mark.parametrize(
    ("requested", "given"),
    [
        ({"inptus": ["x"]}, at("/inptus", "The member 'inptus' is unknown.")),
        (
            {"basis": {"type": "kernel", "width": {"type": "fixed", "value": 0}}},
            plainly("/basis/width/value", "The width must be from 1e-75 to 1e+75, got 0."),
        ),
        (
            {"basis": [{"type": "bias"}, {"type": "kernel", "width": {"type": "fixed", "value": -0.5}}]},
            plainly("/basis/1/width/value", "The width must be from 1e-75 to 1e+75, got -0.5."),
        ),
        (
            {"basis": {"type": "kernel", "width": {"type": "fixed", "value": [0.5, "wide"]}}},
            at("/basis/width/value/1", 'Should be a valid number, got "wide".'),
        ),
        (
            {"inputs": ["x"], "basis": {"type": "kernel", "width": {"type": "fixed", "value": [-1]}}},
            plainly("/basis/width/value/0", "The width must be from 1e-75 to 1e+75, got -1."),
        ),
        (
            {"inputs": ["x"], "basis": [{"type": "kernel", "width": {"type": "fixed", "value": [0.5, 2]}}]},
            plainly("/basis/0/width/value", "A list of widths must have one for each input: expected 1, got 2."),
        ),
        (
            {
                "inputs": None,
                "missing": "drop_rows",
                "basis": {"type": "kernel", "width": {"type": "fixed", "value": [0.5]}},
            },
            plainly(
                "/inputs",
                "A list of widths follows the order of `inputs`, which are required with it.",
            ),
        ),
        (
            {"basis": {"type": "kernel", "width": {"type": "fixed", "value": 1e-300}}},
            plainly("/basis/width/value", "The width must be from 1e-75 to 1e+75, got 1e-300."),
        ),
        (
            {"basis": [{"type": "kernel", "kernel": {"type": "gausian"}}]},
            at("/basis/0/kernel/type", f"Expected one of {KERNELS}, got 'gausian'."),
        ),
        (
            {"basis": {"type": "kernel", "kernel": {"type": "gaussian", "width": 1}}},
            at("/basis/kernel/width", "The member 'width' is unknown."),
        ),
        (
            {"basis": {"type": "kernl"}},
            at(
                "/basis/type",
                "Expected one of 'kernel', 'bias', 'inputs', 'steps', 'fourier', 'b_splines', 'gabor', 'group',"
                " got 'kernl'.",
            ),
        ),
        (
            {"basis": {"kernel": {"type": "gaussian"}}},
            at("/basis/type", "This member is required: it selects one of the alternatives."),
        ),
        ({"basis": []}, at("/basis", "Expected at least 1, got 0.")),
        ({"basis": "kernel"}, at("/basis", 'Should be an object, got "kernel".')),
        (
            {"basis": {"type": "kernel", "width": {"type": "cross_validation", "folds": 1}}},
            at("/basis/width/folds", "Should be greater than or equal to 2, got 1."),
        ),
        (
            {"likelihood": {"type": "gaussian", "noise_sd": "learnt"}},
            at(
                "/likelihood/noise_sd",
                "Should be 'learned' or 'heteroscedastic', got \"learnt\". "
                'Or: Should be a valid number, got "learnt". Or: Should be an object, got "learnt".',
            ),
        ),
        (
            {"likelihood": {"type": "gaussian", "noise_sd": "rows"}},
            at(
                "/likelihood/noise_sd",
                "Should be 'learned' or 'heteroscedastic', got \"rows\". Or: Should be a valid number, got \"rows\". "
                'Or: Should be an object, got "rows".',
            ),
        ),
        (
            {"inputs": ["colour"], "likelihood": {"type": "gaussian", "noise_sd": {"column": "x"}}},
            plainly("/likelihood/noise_sd/column", "`x` goes down to 0; expected noise sds above 0.", "x"),
        ),
        (
            {"likelihood": {"type": "gaussian", "noise_sd": -0.1}},
            plainly("/likelihood/noise_sd", "The noise sd must be above 0, got -0.1."),
        ),
        (
            {"likelihood": {"type": "bernoulli", "temperature": "learned"}},
            plainly(
                "/likelihood/type",
                '"bernoulli" is not a likelihood for regression;'
                ' "gaussian", "student_t", "log_gaussian", "logit_gaussian", "poisson", "negative_binomial" and'
                ' "hurdle" are.',
            ),
        ),
        (
            {"likelihood": {"type": "student_t", "degrees_of_freedom": 2}},
            plainly("/likelihood/degrees_of_freedom", "`degrees_of_freedom` must be above 2 and at most 200, got 2."),
        ),
        (
            {"likelihood": {"type": "student_t", "degrees_of_freedom": "many"}},
            at(
                "/likelihood/degrees_of_freedom",
                'Should be \'learned\', got "many". Or: Should be a valid number, got "many".',
            ),
        ),
        (
            {"likelihood": {"type": "poisson"}},
            plainly(
                "/likelihood",
                '`y` has fractions, from 0.5 to 5.1, and counts are integers; use "log_gaussian" or "gaussian".',
                "y",
            ),
        ),
        (
            {"likelihood": {"type": "poisson", "degrees_of_freedom": 3}},
            at("/likelihood/degrees_of_freedom", "The member 'degrees_of_freedom' is unknown."),
        ),
        (
            {"task": "ranking"},
            at("/task", NO_TASK),
        ),
        (
            {"task": 3},
            at("/task", NO_TASK),
        ),
        (
            {"basis": {"type": "kernel", "width": {"type": "fixed", "value": 1}, "additive": "evidence"}},
            plainly(
                "/basis",
                "Expected a width for each input by evidence, since terms of single inputs are learned with them.",
            ),
        ),
        (
            {"prior": {"type": "gaussian_process"}, "algorithm": {"type": "re_estimation"}},
            plainly("/algorithm", '"re_estimation" can\'t learn the prior "gaussian_process".'),
        ),
        (
            {"prior": {"type": "gaussian_process"}, "basis": {"type": "kernel", "kernel": {"type": "linear_spline"}}},
            plainly("/basis", '"linear_spline" is no covariance of a stationary process, as the prior needs one.'),
        ),
        (
            {
                "prior": {"type": "gaussian_process"},
                "basis": [{"type": "kernel", "width": {"type": "fixed", "value": 1}, "warp": "evidence"}],
            },
            plainly("/basis", "Expected widths by evidence, since warps are learned with them."),
        ),
        (
            {"prior": {"type": "gaussian_process", "min_gain": 0}},
            at("/prior/min_gain", "Should be greater than 0, got 0."),
        ),
        (
            {"prior": {"type": "gaussian_process", "rho": 1.5}},
            at("/prior/rho", "Should be less than or equal to 1, got 1.5."),
        ),
        (
            {"prior": {"type": "gaussian_process", "rho": 0.3}, "likelihood": {"type": "student_t"}},
            plainly("/prior", 'Expected rho of 0 under "student_t": another is for Gaussian noise.'),
        ),
        (
            {"prior": {"type": "gaussian_process", "max_functions": 2_049}},
            at("/prior/max_functions", "Should be less than or equal to 2048, got 2049."),
        ),
        (
            {"basis": {"type": "kernel", "width": None, "warp": "little"}},
            at("/basis/warp", "Should be 'none' or 'evidence', got \"little\"."),
        ),
        (
            {"prior": {"type": "wide"}},
            at("/prior/type", "Expected one of 'automatic', 'independent', 'gaussian_process', got 'wide'."),
        ),
        ({"prior": {"type": "automatic", "price": True}}, at("/prior/price", "The member 'price' is unknown.")),
        (
            {"algorithm": {"type": "re_estimation", "update": "newton"}},
            at("/algorithm/update", "Should be 'mackay' or 'em', got \"newton\"."),
        ),
        ({"seed": 1.5}, at("/seed", "Should be a valid integer, got 1.5.")),
        ({"seed": "1"}, at("/seed", 'Should be a valid integer, got "1".')),
        ({"seed": 2**64}, at("/seed", f"Should be less than or equal to {2**53 - 1}, got {2**64}.")),
        ({"seed": -1}, at("/seed", "Should be greater than or equal to 0, got -1.")),
        ({"holdout": 0.95}, at("/holdout", "Should be less than or equal to 0.9, got 0.95.")),
        ({"validation": {"folds": 1}}, at("/validation/folds", "Should be greater than or equal to 2, got 1.")),
        ({"validation": {"folds": 21}}, at("/validation/folds", "Should be less than or equal to 20, got 21.")),
        ({"validation": {"fold": 5}}, at("/validation/fold", "The member 'fold' is unknown.")),
        (
            {"validation": {"folds": 20}},
            plainly(
                "/validation/folds", "20 folds need at least 20 rows to train on, and there are 6; use fewer folds."
            ),
        ),
        ({"holdout": "0.1"}, at("/holdout", 'Should be a valid number, got "0.1".')),
        ({"standardise": 1}, at("/standardise", "Should be a valid boolean, got 1.")),
        ({"missing": "ignore"}, at("/missing", "Should be 'error', 'drop_rows' or 'indicator', got \"ignore\".")),
        ({"split": {"type": "group"}}, at("/split/column", "This member is required.")),
        ({"split": {"type": "groups"}}, at("/split/type", "Expected one of 'random', 'group', 'order', got 'groups'.")),
        ({"inputs": []}, at("/inputs", "Expected at least 1, got 0.")),
        ({"inputs": ["x", 3]}, at("/inputs/1", "Should be a valid string, got 3.")),
        (
            {"model": "No Name"},
            at("/model", "Should match pattern '^[a-z][a-z0-9._-]{0,62}$', got \"No Name\"."),
        ),
        (
            {"dataset_id": "points"},
            at("/dataset_id", 'Should be a valid UUID, invalid character: found `p` at 0, got "points".'),
        ),
        (
            {"inputs": ["x", "nope"]},
            plainly("/inputs/1", f"There is no column 'nope'; there are {COLUMNS}.", "nope"),
        ),
        ({"target": "nope"}, plainly("/target", f"There is no column 'nope'; there are {COLUMNS}.", "nope")),
        (
            {"target": "same"},
            plainly("/target", "Expected two values of the target `same`, got 7.0 in every row.", "same"),
        ),
        (
            {"target": "one"},
            plainly("/target", "The target `one` has one class only; at least two are needed.", "one"),
        ),
        (
            {"target": "three", "likelihood": {"type": "bernoulli", "temperature": "learned"}},
            plainly(
                "/likelihood/type",
                '"bernoulli" is for two classes, and `three` has 3; use "bernoulli_per_class" or "categorical".',
                "three",
            ),
        ),
        (
            {"target": "three", "likelihood": {"type": "categorical", "classes": 5}},
            plainly(
                "/likelihood/classes",
                "`three` has 3 classes, got 5; by default they are counted.",
                "three",
            ),
        ),
        (
            {"target": "three", "prior": {"type": "independent", "c": 1}, "algorithm": {"type": "re_estimation"}},
            plainly("/prior", "Expected c and d of 0, since no noise precision is learned."),
        ),
    ],
)
def test_a_request_that_makes_no_sense_states_where(
    client: TestClient, parts: SmallParts, requested: dict[str, object], given: tuple[str, Errors]
) -> None:
    detail, errors = given
    assert_problem(client.post(PATH, json={**SUBMIT, **requested}), "invalid-request", detail, errors)
    assert not parts.stored.queue.submitted


def test_all_that_is_wrong_is_stated_together(client: TestClient) -> None:
    response = client.post(PATH, json={"target": "", "seed": -1, "basis": [{"type": "kernel", "widht": 1}, 7]})
    assert_problem(
        response,
        "invalid-request",
        "At /dataset_id: This member is required (and 4 more).",
        [
            {"pointer": "/dataset_id", "detail": "This member is required."},
            {"pointer": "/target", "detail": 'Should have at least 1 character, got "".'},
            {"pointer": "/basis/0/widht", "detail": "The member 'widht' is unknown."},
            {"pointer": "/basis/1", "detail": "Should be an object, got 7."},
            {"pointer": "/seed", "detail": "Should be greater than or equal to 0, got -1."},
        ],
    )


def test_gaps_are_refused_unless_something_is_done_about_them(client: TestClient) -> None:
    response = client.post(PATH, json={**SUBMIT, "inputs": ["x", "gaps"], "missing": "error"})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == ["/inputs/1"]
    submitted(client, inputs=["x", "gaps"], missing="drop_rows")


def test_gaps_get_an_indicator_and_the_job_has_the_reason(client: TestClient) -> None:
    job = client.post(PATH, json={**SUBMIT, "inputs": ["x", "gaps"]}).json()
    assert job["missing"] == "indicator"
    assert job["missing_reason"].startswith("Input `gaps` (")


def test_a_dataset_that_is_not_there_or_was_deleted_is_404(client: TestClient) -> None:
    assert_problem(
        client.post(PATH, json={**SUBMIT, "dataset_id": UNKNOWN}), "not-found", f"There is no dataset {UNKNOWN}."
    )
    assert client.delete(f"/v1/datasets/{DATASET.id}").status_code == 204
    assert_problem(client.post(PATH, json=SUBMIT), "not-found", f"There is no dataset {DATASET.id}.")


def test_a_dataset_of_one_row_teaches_nothing(client: TestClient, parts: SmallParts) -> None:
    parts.stored.put_dataset(replace(DATASET, rows=1))
    assert_problem(
        client.post(PATH, json=SUBMIT),
        "invalid-request",
        *plainly("/dataset_id", "The dataset has 1 row; at least two are needed to learn from."),
    )


def test_a_model_name_that_means_something_else_is_409(client: TestClient) -> None:
    assert_problem(
        client.post(PATH, json={**SUBMIT, "target": "known", "model": "small"}),
        "conflict",
        "The versions of model 'small' have another task, target or other inputs; choose another `model` name.",
        [
            {"pointer": "/task", "detail": "The model's task is regression, this one's is classification."},
            {"pointer": "/target", "detail": "The model's `target` is 'y', this one's is 'known'."},
        ],
    )


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "The body is empty."),
        (b"\xff", "The body is not UTF-8: byte 0 is 0xff."),
        (
            b"[" * 900 + b"]" * 900,
            "Expected at most 64 nested objects and arrays, got more.",
        ),
    ],
)
def test_a_body_that_can_not_be_read_is_400(client: TestClient, body: bytes, detail: str) -> None:
    response = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert_problem(response, "malformed-body", detail)


@pytest.mark.parametrize(
    "body", [b"{", b'{"target": "y", "target": "x"}', b'{"seed": NaN}', b'{"seed": 1e999}', b"[1]"]
)
def test_json_that_is_broken_or_states_too_much_is_refused(client: TestClient, body: bytes) -> None:
    response = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in {400, 422}
    assert response.json()["errors"]


def test_a_number_that_is_none_is_reported_without_a_word_of_cells(client: TestClient) -> None:
    response = client.post(PATH, content=b'{"seed": NaN}', headers={"Content-Type": "application/json"})
    assert_problem(
        response,
        "invalid-data",
        "NaN is not a finite number.",
        [{"pointer": "/seed", "detail": "NaN is not a finite number."}],
    )


def test_a_job_that_is_not_there_is_404(client: TestClient) -> None:
    for path in (f"{PATH}/{UNKNOWN}", f"{PATH}/{UNKNOWN}/events", f"{PATH}/{UNKNOWN}?wait=1"):
        assert_problem(client.get(path), "not-found", f"There is no training job {UNKNOWN}.")
    for what in ("cancel", "retry"):
        assert_problem(client.post(f"{PATH}/{UNKNOWN}/{what}"), "not-found", f"There is no training job {UNKNOWN}.")
    assert_problem(client.get(f"{PATH}/nonsense"), "not-found", "There is no training job 'nonsense'.")


def test_waiting_ends_with_the_job(client: TestClient, parts: SmallParts) -> None:
    job_id = submitted(client)
    moves = (Transition("queued", NOW, 0), Transition("succeeded", NOW, 1))
    done = replace(
        parts.stored.job(job_id),
        state="succeeded",
        model="points",
        version=4,
        finished_at=NOW,
        transitions=moves,
    )
    timer = Timer(0.2, lambda: parts.stored.put_job(done))
    timer.start()
    job = client.get(f"{PATH}/{job_id}?wait=60").json()
    timer.join()
    assert (job["state"], job["version"]) == ("succeeded", {"model": "points", "version": 4})


def test_waiting_ends_with_its_time(client: TestClient) -> None:
    job_id = submitted(client)
    assert client.get(f"{PATH}/{job_id}?wait=0.2").json()["state"] == "queued"
    assert client.get(f"{PATH}/{job_id}/events?after=1&wait=0.2").json()["items"] == []


@pytest.mark.parametrize(
    ("query", "parameter", "detail"),
    [
        ("/{id}?wait=61", "wait", "Should be less than or equal to 60."),
        ("/{id}?wait=-1", "wait", "Should be greater than or equal to 0."),
        ("/{id}/events?after=x", "after", "Should be a valid integer, unable to parse string as an integer."),
        ("?limit=0", "limit", "Should be greater than or equal to 1."),
        ("?limit=1001", "limit", "Should be less than or equal to 1000."),
        ("?state=lost", "state", "Should be 'queued', 'running', 'succeeded', 'failed' or 'cancelled'."),
    ],
)
def test_a_parameter_that_makes_no_sense_is_named(client: TestClient, query: str, parameter: str, detail: str) -> None:
    job_id = submitted(client)
    assert_problem(
        client.get(PATH + query.format(id=job_id)),
        "invalid-request",
        f"The parameter {parameter!r}: {detail}",
        [{"parameter": parameter, "detail": detail}],
    )


def test_a_queued_job_is_cancelled_at_once_and_only_once(client: TestClient) -> None:
    job_id = submitted(client)
    response = client.post(f"{PATH}/{job_id}/cancel")
    assert response.status_code == 202
    assert response.json()["state"] == "cancelled"
    assert response.json()["cancel_requested_at"] is not None
    again = client.post(f"{PATH}/{job_id}/cancel")
    assert (again.status_code, again.json()) == (202, response.json())


def test_a_cancel_that_comes_too_late_reports_it(client: TestClient, parts: SmallParts) -> None:
    job_id = submitted(client)
    parts.stored.put_job(replace(parts.stored.job(job_id), state="succeeded", finished_at=NOW))
    detail = "The job can't be cancelled: it succeeded at 2024-05-01T13:00:00Z."
    assert_problem(client.post(f"{PATH}/{job_id}/cancel"), "conflict", detail)


def test_a_job_is_done_again_once_it_has_ended(client: TestClient, parts: SmallParts) -> None:
    job_id = submitted(client, priority=7)
    detail = "The job has not ended, it is queued: wait for its end, or cancel it first."
    assert_problem(client.post(f"{PATH}/{job_id}/retry"), "conflict", detail)
    first = client.post(f"{PATH}/{job_id}/cancel").json()
    response = client.post(f"{PATH}/{job_id}/retry")
    again = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"{PATH}/{again['id']}"
    assert (again["state"], again["priority"], again["retry_of"]) == ("queued", 7, str(job_id))
    of_the_run = {"id", "state", "finished_at", "cancel_requested_at", "transitions", "retry_of"}
    assert [again[name] == first[name] for name in first if name not in of_the_run] == [True] * (len(first) - 6)
    assert parts.stored.queue.submitted == [job_id, UUID(again["id"])]
    parts.stored.put_job(replace(parts.stored.job(UUID(again["id"])), state="failed"))
    parts.datasets.delete(OWNER, DATASET.id)
    message = f"There is no dataset {DATASET.id}."
    assert_problem(client.post(f"{PATH}/{again['id']}/retry"), "not-found", message)


@pytest.mark.parametrize("priority", [-101, 101, 0.5, "1"])
def test_a_priority_is_a_whole_number_of_up_to_a_hundred(client: TestClient, priority: object) -> None:
    refused = client.post(PATH, json={**SUBMIT, "priority": priority})
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/priority"]


@pytest.mark.parametrize("task", ["regression", "approximation", "image", "components"])
def test_every_task_has_a_priority(task: str) -> None:
    needed: dict[str, dict[str, object]] = {"regression": {"target": "y"}, "approximation": {"width": 1.0}}
    requested = {"task": task, "dataset_id": str(DATASET.id), "priority": -3, **needed.get(task, {})}
    assert checked(TRAINING.request.adapter, requested).priority == -3


@pytest.mark.parametrize(
    ("requested", "pointer", "words"),
    [
        ({"task": "approximation", "width": 1.0, "inputs": ["x", "x"]}, "/inputs/1", "`x` is named twice."),
        ({"task": "components", "inputs": ["x", "x"]}, "/inputs/1", "`x` is named twice."),
        ({"task": "image"}, "/dataset_id", "Expected an image, got a table"),
    ],
)
def test_what_contradicts_the_data_is_stated_at_its_place_in_every_task(
    client: TestClient, requested: dict[str, object], pointer: str, words: str
) -> None:
    refused = client.post(PATH, json={"dataset_id": str(DATASET.id), **requested})
    [error] = refused.json()["errors"]
    assert (refused.status_code, error["pointer"]) == (422, pointer)
    assert words in error["detail"]


def test_progress_and_failure_are_shown(client: TestClient, parts: SmallParts) -> None:
    job_id = submitted(client)
    with parts.stored.transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(1)
        assert JobRepository(tx).progress(job_id, 1, Progress("width search", 3, 20, "fits", -12.5, 4, 0.3))
    assert client.get(f"{PATH}/{job_id}").json()["progress"] == {
        "phase": "width search",
        "completed": 3,
        "total": 20,
        "unit": "fits",
        "log_marginal_likelihood": -12.5,
        "functions": 4,
        "noise_sd": 0.3,
        "share": None,
        "seconds_left": None,
    }
    fault = Fault("half of it is missing", column="x")
    with parts.stored.transaction() as tx:
        assert JobRepository(tx).fail(
            job_id, 1, JobFailure("too-few-rows", "Too few rows", "Send more rows.", (fault,))
        )
    job = client.get(f"{PATH}/{job_id}").json()
    assert job["state"] == "failed"
    assert job["error"] == {
        "type": "/problems/too-few-rows",
        "title": "Too few rows",
        "detail": "Send more rows.",
        "instance": f"{PATH}/{job_id}",
        "errors": [
            {
                "column": "x",
                "detail": "half of it is missing",
                "pointer": None,
                "parameter": None,
                "header": None,
                "row": None,
                "line": None,
                "sheet_row": None,
            }
        ],
    }


def test_jobs_are_paged_newest_first_and_by_state(client: TestClient) -> None:
    ids = [str(submitted(client)) for _ in range(3)]
    client.post(f"{PATH}/{ids[0]}/cancel")
    page = client.get(f"{PATH}?limit=2").json()
    assert ([job["id"] for job in page["items"]], page["has_more"]) == ([ids[2], ids[1]], True)
    rest = client.get(f"{PATH}?limit=2&after={page['after']}").json()
    assert ([job["id"] for job in rest["items"]], rest["has_more"], rest["after"]) == ([ids[0]], False, None)
    cancelled = client.get(f"{PATH}?state=cancelled").json()
    assert [job["id"] for job in cancelled["items"]] == [ids[0]]


def test_events_are_paged_in_their_order(client: TestClient, parts: SmallParts) -> None:
    job_id = submitted(client)
    moves = (Transition("queued", NOW, 0), Transition("running", NOW, 1), Transition("failed", NOW, 1, "no luck"))
    parts.stored.put_job(replace(parts.stored.job(job_id), state="failed", transitions=moves))
    page = client.get(f"{PATH}/{job_id}/events?limit=2").json()
    assert ([event["number"] for event in page["items"]], page["has_more"], page["after"]) == ([1, 2], True, "2")
    assert client.get(f"{PATH}/{job_id}/events?after=2").json() == {
        "items": [
            {
                "number": 3,
                "at": "2024-05-01T13:00:00Z",
                "kind": "transition",
                "transition": {
                    "state": "failed",
                    "at": "2024-05-01T13:00:00Z",
                    "attempt": 1,
                    "reason": "no luck",
                    "resumed_from": None,
                },
                "progress": None,
            }
        ],
        "has_more": False,
        "after": None,
    }
