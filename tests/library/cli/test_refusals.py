import json
import socket
from pathlib import Path

import pytest

from tests.commands import Run
from tests.library.cli.conftest import Stub

PROBLEM = {
    "type": "/problems/invalid-request",
    "title": "Invalid request",
    "status": 422,
    "detail": "The dataset has no column 'litre'.",
    "instance": "/v1/training-jobs",
    "errors": [{"pointer": "/target", "detail": "Known are temperature and litres."}],
}
DATASET = {
    "id": "d1",
    "name": "kiosk",
    "created_at": "2026-01-02T03:04:05Z",
    "rows": 2,
    "digest": "00",
    "columns": [],
}

NOW = "2026-01-02T03:04:05Z"
FAILED = {"state": "failed", "at": NOW, "attempt": 1, "reason": None}
EVENT = {"number": 1, "at": NOW, "kind": "transition", "transition": FAILED, "progress": None}
JOB = {
    "id": "j1",
    "state": "failed",
    "created_at": NOW,
    "started_at": NOW,
    "finished_at": NOW,
    "cancel_requested_at": None,
    "attempt": 1,
    "progress": None,
    "version": None,
    "error": {
        "type": "/problems/constant-target",
        "title": "Constant",
        "detail": "All targets are 1.",
        "instance": "/v1/training-jobs/j1",
        "errors": [],
    },
    "transitions": [FAILED],
    "dataset_id": "d1",
    "model": "kiosk",
    "task": "regression",
    "task_reason": "",
    "target": "litres",
    "classes": [],
    "inputs": [],
    "ignored": [],
    "likelihood": {"type": "gaussian"},
    "basis": [],
    "prior": {"type": "independent"},
    "algorithm": {"type": "sequential"},
    "compared_models": [],
    "standardise": True,
    "missing": "error",
    "missing_reason": "",
    "keep_rows": True,
    "max_score_loss": 0.01,
    "budget": None,
    "positive_class": None,
    "split": {"type": "random"},
    "holdout": 0.0,
    "seed": 0,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kiosk.csv"
    path.write_text("temperature,litres\n20,40\n30,70\n")
    return path


def test_a_refusal_is_stated_in_plain_text_with_its_places_and_no_traceback(stub: Stub, run: Run, file: Path) -> None:
    responses = {"POST /v1/datasets": (201, DATASET), "POST /v1/training-jobs": (422, PROBLEM)}
    url = stub({**responses, "DELETE /v1/datasets/d1": (204, "")})
    done = run("train", str(file), "--target", "litre", "--url", url)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr == "The dataset has no column 'litre'.\n  --target: Known are temperature and litres.\n"


def test_a_training_that_fails_ends_with_its_reason(stub: Stub, run: Run, file: Path) -> None:
    url = stub(
        {
            "POST /v1/datasets": (201, DATASET),
            "POST /v1/training-jobs": (202, JOB),
            "GET /v1/training-jobs/j1/events": (200, f"id: 1\nevent: transition\ndata: {json.dumps(EVENT)}\n\n"),
            "GET /v1/training-jobs/j1": (200, JOB),
        }
    )
    done = run("train", str(file), "--target", "litres", "--url", url)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr == "kiosk: failed\nAll targets are 1.\n"


def test_a_job_is_followed_to_its_end_and_then_shown(stub: Stub, run: Run) -> None:
    stream = f"retry: 1000\n\nid: 1\nevent: transition\ndata: {json.dumps(EVENT)}\n\n"
    url = stub({"GET /v1/training-jobs/j1/events": (200, stream), "GET /v1/training-jobs/j1": (200, JOB)})
    done = run("jobs", "j1", "--follow", "--url", url)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == f"{JOB['model']}: failed\n"
    assert "All targets are 1." in done.stdout


def test_to_follow_a_job_it_has_to_be_named(run: Run) -> None:
    done = run("jobs", "--follow", "--url", "http://127.0.0.1:9")
    assert done.exit_code == 2
    assert "--follow" in done.stderr


def test_a_service_that_is_not_there_is_stated_with_how_to_start_one(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    done = run("models", "--url", f"http://127.0.0.1:{port}")
    assert done.exit_code == 1
    assert f"No response from http://127.0.0.1:{port}" in done.stderr
    assert "relevance serve" in done.stderr


def test_a_missing_key_is_stated_with_where_it_goes(stub: Stub, run: Run) -> None:
    problem = {"type": "/problems/unauthenticated", "title": "Unauthenticated", "detail": "A key is needed."}
    url = stub({"GET /v1/models": (401, problem | {"status": 401})})
    done = run("models", "--url", url)
    assert done.exit_code == 1
    assert "A key is needed." in done.stderr
    assert "RELEVANCE_API_KEY" in done.stderr


def test_a_file_that_is_not_there_is_a_matter_of_usage(run: Run) -> None:
    done = run("train", "nowhere.csv", "--target", "y")
    assert done.exit_code == 2
    assert "nowhere.csv" in done.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--width", "wide"), ("--split", "by me"), ("--split", "random:x"), ("--task", "guess")]
)
def test_an_option_without_meaning_is_refused_before_anything_is_sent(
    run: Run, file: Path, option: str, value: str
) -> None:
    done = run("train", str(file), "--target", "y", option, value, "--url", "http://127.0.0.1:9")
    assert done.exit_code == 2
    assert option in done.stderr


def test_a_target_is_needed(run: Run, file: Path) -> None:
    done = run("train", str(file))
    assert done.exit_code == 2
    assert "--target" in done.stderr
