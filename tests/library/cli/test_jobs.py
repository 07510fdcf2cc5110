"""Jobs of all kinds in one list, and each by its id alone."""

import json
import re
from pathlib import Path

import pytest

from tests.commands import Run

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "ramp.csv"
    path.write_text("x,y\n" + "".join(f"{x / 4},{x / 2 + x % 3}\n" for x in range(30)))
    return path


@pytest.mark.thorough
def test_jobs_of_all_kinds_are_listed_newest_first(requested: Run, file: Path, tmp_path: Path) -> None:
    fixed = ("--prior", "independent", "--width", "3", "--noise-sd", "1")
    commands = (
        ("train", str(file), "--target", "y", *fixed),
        ("evaluate", "ramp", str(file)),
        ("predict-dataset", "ramp", str(file), "-o", str(tmp_path / "out.csv")),
        ("promote", "ramp@champion", "1", str(file)),
    )
    for command in commands:
        done = requested(*command)
        assert done.exit_code == 0, done.stderr
    newest = json.loads(requested("jobs", "--json", "--limit", "4").stdout)
    listed = requested("jobs", "--limit", "4").stdout.splitlines()
    reported = [line.split() for line in listed[1:]]
    assert [(line[0], line[1]) for line in reported] == [
        (job["id"], kind)
        for job, kind in zip(newest, ("promotion", "prediction", "evaluation", "training"), strict=True)
    ]
    for line, came in zip(listed[1:], ("ramp@champion moved", "30 rows", "rmse ", "ramp, version 1"), strict=True):
        assert came in line
    for job, kind in zip(newest, ("promotion", "prediction", "evaluation", "training"), strict=True):
        shown = requested("jobs", job["id"], "--follow")
        assert re.search(rf"^kind +{kind} *$", shown.stdout, re.MULTILINE), shown.stdout
    for job in newest[1:]:  # what an alias points to already can't be promoted to it again
        again = requested("jobs", "--retry", job["id"], "--json")
        assert again.exit_code == 0, again.stderr
        assert json.loads(again.stdout)["retry_of"] == job["id"]
    refused = requested("jobs", "--retry", newest[0]["id"])
    assert refused.exit_code == 1
    assert "champion" in refused.stderr, refused.stderr


@pytest.mark.parametrize("option", [(UNKNOWN,), ("--cancel", UNKNOWN), ("--retry", UNKNOWN), (UNKNOWN, "--follow")])
def test_a_job_that_is_of_no_kind_is_stated_to_be_none(requested: Run, option: tuple[str, ...]) -> None:
    done = requested("jobs", *option)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"There is no job {UNKNOWN}." in done.stderr
