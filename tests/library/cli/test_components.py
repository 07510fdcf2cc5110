"""Components from a file of usual rows to what is new in another, on the command line."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.commands import Run

RING = [(math.cos(turn), math.sin(turn)) for turn in (0.1 * step for step in range(63))]
PLACES = ((1.0, 0.0), (-0.6, 0.8), (0.0, 0.0), (2.0, 2.0))
ON_IT = (True, True, False, False)


@pytest.fixture(scope="module")
def set_event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("usual") / "ring.csv"
    path.write_text("note,x,z\n" + "".join(f"{step % 7},{x},{z}\n" for step, (x, z) in enumerate(RING)))
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("x,z\n" + "".join(f"{x},{z}\n" for x, z in PLACES))
    return path


@pytest.fixture(scope="module")
def inputs() -> tuple[str, ...]:
    return ("--input", "x", "--input", "z")


def test_what_is_new_is_distinguished_from_what_is_usual(
    requested: Run, set_event: Path, rows: Path, inputs: tuple[str, ...]
) -> None:
    done = requested("components", str(set_event), *inputs)
    assert done.exit_code == 0, done.stderr
    assert "ring, version 1" in done.stdout
    version = json.loads(requested("models", "ring", "--json").stdout)
    assert (version["task"], version["kernel"], version["standardised"]) == ("components", {"type": "gaussian"}, True)
    responses = list(csv.DictReader(io.StringIO(requested("predict", "ring", str(rows)).stdout)))
    assert [float(response["novelty"]) < 0.6 for response in responses] == list(ON_IT)
    assert sum(name.startswith("component_") for name in responses[0]) == min(10, len(version["variances"]))


def test_so_many_components_are_reported_as_are_requested(
    requested: Run, set_event: Path, rows: Path, inputs: tuple[str, ...]
) -> None:
    done = requested(
        "components", str(set_event), *inputs, "--model", "few", "--width", "0.5", "--min-explained-variance", "0.95"
    )
    assert done.exit_code == 0, done.stderr
    missed = []
    for number in (1, 3, 1_000):
        reported = list(
            csv.DictReader(io.StringIO(requested("predict", "few", str(rows), "--components", str(number)).stdout))
        )
        components = [name for name in reported[0] if name.startswith("component_")]
        assert components == [f"component_{k + 1}" for k in range(len(components))]
        missed.append((len(components), float(reported[0]["reconstruction_error"])))
    every = len(json.loads(requested("models", "few", "--json").stdout)["variances"])
    assert [number for number, _ in missed] == [1, 3, every]
    assert every > 3
    assert [error for _, error in missed] == sorted((error for _, error in missed), reverse=True)


def test_what_is_stated_reaches_the_job(requested: Run, set_event: Path, inputs: tuple[str, ...]) -> None:
    given = ("--kernel", "matern_5_2", "--width", "0.5,2", "--standardise", "--min-explained-variance", "0.8")
    more = ("--missing", "drop_rows", "--seed", "3", "--model", "said", "--no-wait", "--json")
    done = requested("components", str(set_event), *inputs, *given, *more)
    assert done.exit_code == 0, done.stderr
    job = json.loads(done.stdout)
    assert (job["task"], job["model"], job["kernel"]["type"]) == ("components", "said", "matern_5_2")
    assert (job["widths"], job["standardise"], job["min_explained_variance"]) == ([0.5, 2.0], True, 0.8)
    assert (job["missing"], job["seed"]) == ("drop_rows", 3)
    raw = requested("components", str(set_event), "--raw", "--model", "raw", "--no-wait", "--json")
    assert json.loads(raw.stdout)["standardise"] is False


def test_what_the_service_refuses_is_stated(requested: Run, set_event: Path) -> None:
    done = requested("components", str(set_event), "--min-explained-variance", "1.5")
    assert done.exit_code == 1
    assert "--min-explained-variance" in done.stderr
    done = requested("components", str(set_event), "--width", "0.5,2")
    assert done.exit_code == 1
    assert "the order of `inputs`" in done.stderr


def test_a_model_that_predicts_has_no_components(requested: Run, set_event: Path) -> None:
    learned = ("--target", "z", "--model", "line", "--prior", "independent", "--width", "1", "--input", "x")
    assert requested("train", str(set_event), *learned).exit_code == 0
    done = requested("predict", "line", str(set_event), "--components", "2")
    assert done.exit_code == 1
    assert "components" in done.stderr
