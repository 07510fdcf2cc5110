"""Models and versions over HTTP."""

from dataclasses import replace
from math import log

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.tables import ModelVersionRow
from app.registry.trainings import TRAINING
from relevance_bayes.core.basis import Bias
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.models import Reference
from relevance_bayes.tasks.supervised.report import Alternative
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests.applications import DATASET, SmallParts
from tests.problems import assert_problem
from tests.small_models import STATES, WEIGHTS, small_version, version_of_known_noise, version_of_three_classes
from tests.small_tables import NOW

HYPERPARAMETERS = {
    "noise_sd": 0.2,
    "degrees_of_freedom": None,
    "widths": [{"input": None, "width": 1.5}],
    "warps": [],
    "terms": [],
    "signal_sd": None,
    "temperature": None,
    "last_gain": None,
    "next_gain": None,
}
EVIDENCE = {"value": -12.5 - 20 * log(2.0), "kind": "exact", "log_hyperprior": 0.0, "price": 0.0}


def test_models_are_listed_with_what_their_versions_share(client: TestClient) -> None:
    page = client.get("/v1/models?order=oldest").json()
    assert (page["has_more"], page["after"]) == (False, None)
    assert page["items"][0] == {
        "name": "small",
        "created_at": "2024-05-01T12:00:00Z",
        "task": "regression",
        "target": "y",
        "inputs": ["x", "colour"],
        "versions": 1,
        "latest": 1,
        "aliases": {},
        "description": None,
        "tags": {},
        "record": 0.0,
    }
    assert page["items"][0] == client.get("/v1/models/small").json()


def test_a_version_reports_all_that_was_learned(client: TestClient, parts: SmallParts) -> None:
    job = TRAINING.queued(OWNER, SupervisedRequest(DATASET.id, "y"), small_version().report.plan, at=NOW)
    parts.stored.put_job(replace(job, state="succeeded"))
    version = parts.catalogue.version(OWNER, Reference("small", 1))
    with Session(parts.stored.engine) as session, session.begin():
        session.execute(update(ModelVersionRow).where(ModelVersionRow.id == version.id).values(job_id=job.id))
    assert client.get("/v1/models/small/versions/1").json() == {
        "model": "small",
        "version": 1,
        "created_at": "2024-05-01T12:00:00Z",
        "job_id": str(job.id),
        "parent": None,
        "description": None,
        "tags": {},
        "task": "regression",
        "target": "y",
        "target_kind": "number",
        "classes": [],
        "class_rows": [],
        "positive_class": None,
        "inputs": [
            {"name": "x", "kind": "number", "categories": []},
            {"name": "colour", "kind": "category", "categories": ["blue", "red"]},
        ],
        "ignored": [],
        "likelihood": {"type": "gaussian", "noise_sd": "learned"},
        "basis": [
            {
                "type": "kernel",
                "kernel": {"type": "gaussian"},
                "width": {"type": "fixed", "value": 1.5},
                "warp": "none",
                "additive": "none",
            },
            {"type": "bias"},
        ],
        "prior": {"type": "independent", "price": False, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
        "algorithm": {"type": "sequential", "ascent": "inner"},
        "standardised": True,
        "missing": "error",
        "split": {"type": "random"},
        "holdout": 0.0,
        "validation": None,
        "seed": 0,
        "hyperparameters": HYPERPARAMETERS,
        "evidence": EVIDENCE,
        "functions": 3,
        "candidates": 21,
        "rows": 20,
        "rows_dropped": 0,
        "rows_held_out": 0,
        "termination": "converged",
        "metrics": {},
        "members": [
            {
                "label": None,
                "kernel": {"type": "gaussian"},
                "weight": 1.0,
                "functions": 3,
                "hyperparameters": HYPERPARAMETERS,
                "evidence": EVIDENCE,
                "evidence_unreduced": None,
                "score": None,
            }
        ],
        "integrated_evidence": None,
        "alternatives": [],
        "outliers": [],
        "score": None,
        "score_loss": None,
        "max_score_loss": 0.01,
        "unreduced_functions": None,
        "warnings": [],
        "local": None,
        "calendar": None,
        "logarithms": None,
        "texts": None,
        "budget": None,
        "dataset": {"id": str(DATASET.id), "digest": "0" * 64},
        "seconds": 0.25,
        "software_version": "0.1.0",
        "imported": None,
    }


def test_a_version_of_classes_reports_how_many_rows_were_of_each(client: TestClient) -> None:
    version = client.get("/v1/models/classes/versions/1").json()
    assert version["class_rows"] == [{"label": False, "rows": 15}, {"label": True, "rows": 5}]
    assert sum(one["rows"] for one in version["class_rows"]) == version["rows"]


def test_a_version_reports_what_was_compared_and_not_taken(client: TestClient, parts: SmallParts) -> None:
    made = small_version(name="compared", prior=GaussianProcess(min_gain=2.0))
    others = (
        Alternative(None, GaussianProcess(min_gain=2.0), LogGaussian(), 4, "integrated_evidence", -11.0),
        Alternative(Bias(), Independent(price=True), GaussianNoise(), None, "fold_log_density", None, "no rows"),
    )
    figures = {"holdout": {"rmse": 0.3}, "leave_one_out": {"rmse": 0.25, "nll": 0.5, "coverage_95": 0.95}}
    report = replace(made.report, integrated_evidence=-10.25, alternatives=others, metrics=figures)
    parts.stored.put_version(OWNER, replace(made, report=report), number=1)
    version = client.get("/v1/models/compared/versions/1").json()
    process = {
        "type": "gaussian_process",
        "inducing_points": "optimised",
        "min_gain": 2.0,
        "max_functions": None,
        "rho": 0.0,
    }
    gaussian = {"type": "gaussian", "noise_sd": "learned"}
    assert version["integrated_evidence"] == -10.25
    assert version["alternatives"] == [
        {
            "basis": None,
            "prior": process,
            "likelihood": {"type": "log_gaussian"},
            "functions": 4,
            "kind": "integrated_evidence",
            "score": -11.0,
            "reason": None,
        },
        {
            "basis": {"type": "bias"},
            "prior": {"type": "independent", "price": True, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
            "likelihood": gaussian,
            "functions": None,
            "kind": "fold_log_density",
            "score": None,
            "reason": "no rows",
        },
    ]
    assert version["metrics"] == figures


@pytest.mark.parametrize("classes", [(False, True), (0, 1), ("no", "yes"), (0.5, 1.5)])
def test_labels_keep_their_json_type(
    client: TestClient, parts: SmallParts, classes: tuple[str | float | bool, str | float | bool]
) -> None:
    parts.stored.put_version(OWNER, small_version("classification", name="labels", classes=classes), number=1)
    shown = client.get("/v1/models/labels/versions/1").json()["classes"]
    assert shown == list(classes)
    assert [type(label) for label in shown] == [type(label) for label in classes]


def test_versions_are_listed_newest_first(client: TestClient, parts: SmallParts) -> None:
    for number in (2, 3):
        parts.stored.put_version(OWNER, small_version(), number=number)
    page = client.get("/v1/models/small/versions?limit=2").json()
    assert [version["version"] for version in page["items"]] == [3, 2]
    rest = client.get(f"/v1/models/small/versions?limit=2&after={page['after']}").json()
    assert ([version["version"] for version in rest["items"]], rest["after"]) == ([1], None)


def test_relevance_vectors_come_by_number_or_by_weight(client: TestClient) -> None:
    path = "/v1/models/small/versions/1/relevance-vectors"
    page = client.get(path).json()
    assert page["items"][0] == {
        "number": 1,
        "kind": "kernel",
        "row": 3,
        "inputs": {"x": 1.0, "colour": "blue"},
        "input": None,
        "optimised": False,
        "shape": [],
        "phase": None,
        "weight_mean": 2.0,
        "weight_means": [],
        "weight_sd": 0.4,
        "alpha": 0.25,
        "gamma": 0.96,
        "member": None,
        "function": "mean",
    }
    assert (page["items"][2]["row"], page["items"][2]["inputs"]) == (None, None)
    assert [vector["number"] for vector in client.get(f"{path}?sort=weight&limit=2").json()["items"]] == [2, 1]


def test_functions_of_three_classes_have_a_weight_for_each(client: TestClient, parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, version_of_three_classes(), number=1)
    shown = client.get("/v1/models/states/versions/1").json()
    likelihood = {"type": "categorical", "classes": 3, "temperature": "learned"}
    assert (shown["classes"], shown["likelihood"]) == (list(STATES), likelihood)
    items = client.get("/v1/models/states/versions/1/relevance-vectors?sort=weight").json()["items"]
    assert [vector["number"] for vector in items] == [1, 2, 3]
    assert [vector["weight_mean"] for vector in items] == [None] * 3
    assert [[one["label"] for one in vector["weight_means"]] for vector in items] == [list(STATES)] * 3
    assert [[one["mean"] for one in vector["weight_means"]] for vector in items] == WEIGHTS.tolist()


def test_what_is_deleted_is_not_found(client: TestClient, parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, small_version(), number=2)
    removed = client.delete("/v1/models/small/versions/1")
    assert (removed.status_code, removed.content) == (204, b"")
    assert_problem(client.get("/v1/models/small/versions/1"), "not-found", "Model 'small' has no version 1.")
    assert client.get("/v1/models/small/versions/2").status_code == 200
    assert client.delete("/v1/models/small").status_code == 204
    assert_problem(client.get("/v1/models/small"), "not-found", "There is no model 'small'.")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("path", ["/v1/models/nobody", "/v1/models/nobody/versions/1"])
def test_a_model_that_is_not_there_is_404(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert response.json()["type"] == "/problems/not-found"
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("path", "parameter", "detail"),
    [
        ("/v1/models/small/versions/1/relevance-vectors?sort=size", "sort", "Should be 'number' or 'weight'."),
    ],
)
def test_a_parameter_that_makes_no_sense_is_named(client: TestClient, path: str, parameter: str, detail: str) -> None:
    assert_problem(
        client.get(path),
        "invalid-request",
        f"The parameter {parameter!r}: {detail}",
        [{"parameter": parameter, "detail": detail}],
    )


def test_noise_known_by_row_is_shown_with_its_column(client: TestClient, parts: SmallParts) -> None:
    made = version_of_known_noise()
    report = made.report
    spec = report.plan.spec
    others = tuple(
        Alternative(None, spec.prior, spec.likelihood, 3, "integrated_evidence", -score) for score in (1.0, 2.0)
    )
    parts.stored.put_version(OWNER, replace(made, report=replace(report, alternatives=others)), number=1)
    found = client.get("/v1/models/measured/versions/1").json()
    by_column = {"type": "gaussian", "noise_sd": {"column": "sd"}}
    assert found["likelihood"] == by_column
    assert [one["likelihood"] for one in found["alternatives"]] == [by_column, by_column]
    assert found["hyperparameters"]["noise_sd"] == report.hyperparameters.noise_sd
