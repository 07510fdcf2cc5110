"""Commands for what the API has besides the usual way: rows of datasets, filters of jobs, outcomes, options of rows."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.commands import Run

ROWS = "id,x,y\n" + "".join(f"r{k},{k * k % 37},{2 * (k * k % 37) + k % 2}\n" for k in range(40))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "filters.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def trained(requested: Run, file: Path) -> str:
    done = requested("train", str(file), "--target", "y", "--effort", "quick")
    assert done.exit_code == 0, done.stderr
    return "filters"


def test_a_dataset_is_shown_with_its_rows(requested: Run, file: Path) -> None:
    dataset = json.loads(requested("upload", str(file), "--json").stdout)["id"]
    shown = requested("datasets", dataset).stdout
    assert shown.startswith(f"Dataset {dataset}: filters, 40 rows\n")
    assert requested("datasets", dataset, "--rows", "--limit", "2").stdout.split() == [
        *("row", "id", "x", "y"), *("1", "r0", "0", "0"), *("2", "r1", "1", "3")
    ]  # fmt: skip
    sampled = json.loads(requested("datasets", dataset, "--sample", "4", "--json").stdout)
    assert [row["row"] for row in sampled] == [5, 15, 25, 35]
    assert requested("datasets", "--rows").exit_code == 2


def test_jobs_are_listed_by_kind_state_model_and_dataset(requested: Run, trained: str, file: Path) -> None:
    assert requested("evaluate", trained, str(file), "--priority", "3").exit_code == 0

    def listed(*filters: str) -> list[dict[str, object]]:
        done = requested("jobs", "--model", trained, *filters, "--json")
        assert done.exit_code == 0, done.stderr
        found: list[dict[str, object]] = json.loads(done.stdout)
        return found

    (evaluation,) = listed("--kind", "evaluation")
    assert evaluation["priority"] == 3
    assert all("plan" in job or "target" in job for job in listed("--kind", "training"))
    assert len(listed()) > len(listed("--kind", "training")) > 0
    assert listed("--state", "failed") == []
    assert {job["dataset_id"] for job in listed("--dataset", str(evaluation["dataset_id"]))} == {
        evaluation["dataset_id"]
    }
    assert requested("jobs", "--kind", "nothing").exit_code == 2


def test_a_batch_prediction_is_deleted_with_its_file(requested: Run, trained: str, file: Path) -> None:
    made = file.with_name("made.csv")
    done = requested("predict-dataset", trained, str(file), "-o", str(made), "--priority", "2", "--json")
    job = json.loads(done.stdout)
    assert job["priority"] == 2
    assert requested("delete", "prediction", job["id"], "--yes").stdout == f"Batch prediction {job['id']} is deleted.\n"
    assert requested("jobs", job["id"]).exit_code == 1


def test_outcomes_are_recorded_and_sent(requested: Run, trained: str, file: Path) -> None:
    assert requested("outcomes", "record", trained, "1").stdout == "filters records 1 of predictions with row ids.\n"
    done = requested("predict", trained, str(file), "--row-ids", "id", "-o", str(file.with_name("out.csv")))
    assert done.exit_code == 0, done.stderr
    done = requested("outcomes", "send", trained, str(file), "--row-ids", "id", "--json")
    assert done.exit_code == 0, done.stderr
    received = json.loads(done.stdout)
    assert received["recorded"] + received["unknown"] + received["repeated"] == 40
    assert requested("outcomes", "show", trained).exit_code == 0
    assert requested("outcomes", "alarms", trained).stdout == "No alarms.\n"
    assert requested("outcomes", "send", trained, str(file), "--row-ids", "nothing").exit_code == 1
    assert "no value in the column 'nothing'" in requested("predict", trained, str(file), "--row-ids", "nothing").stderr


def test_rows_to_predict_for_are_read_by_options(requested: Run, trained: str, tmp_path: Path) -> None:
    german = tmp_path / "german.csv"
    german.write_text("x\n1,250\n")
    for arguments, x in (
        (("--delimiter", ";", "--decimal", ","), 1.25),
        (("--delimiter", ";", "--thousands", ","), 1250),
    ):
        done = requested("predict", trained, str(german), *arguments, "-o", "-")
        assert done.exit_code == 0, done.stderr
        (row,) = csv.DictReader(io.StringIO(done.stdout))
        (plain := tmp_path / "plain.csv").write_text(f"x\n{x}\n")
        (same,) = csv.DictReader(io.StringIO(requested("predict", trained, str(plain), "-o", "-").stdout))
        assert row == {**same, "x": "1,250"}
    sent = requested("predict", trained, str(german), "--delimiter", ";", "--decimal", ",", "--format", "csv")
    assert sent.exit_code == 0, sent.stderr
    assert len(sent.stdout.splitlines()) == 2
