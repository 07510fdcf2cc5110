"""A known function from a file of its terms to values beside rows, on the command line."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.commands import Run

TERMS = [(-1.0, 2.0), (-0.9, 1.0), (1.5, -1.0), (1.6, -2.0), (4.0, 0.5)]
PLACES = (-1.0, 0.0, 1.5, 4.0)


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terms") / "bumps.csv"
    path.write_text("note,x,c\n" + "".join(f"here,{x},{c}\n" for x, c in TERMS))
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "".join(f"{x}\n" for x in PLACES))
    return path


def test_few_terms_represent_all(requested: Run, terms: Path, rows: Path) -> None:
    options = ("--coefficients", "c", "--width", "0.7", "--constant", "3", "--tolerance", "0.05")
    done = requested("approximate", str(terms), *options)
    assert done.exit_code == 0, done.stderr
    assert "bumps, version 1" in done.stdout
    assert "stand for 5" in done.stdout
    assert "ignored columns" in done.stdout
    version = json.loads(requested("models", "bumps", "--json").stdout)
    assert (version["task"], version["coefficients"], version["constant"]) == ("approximation", "c", 3.0)
    assert version["error"] <= 0.05
    responses = list(csv.DictReader(io.StringIO(requested("predict", "bumps", str(rows)).stdout)))
    for response, x in zip(responses, PLACES, strict=True):
        full = 3.0 + sum(c * math.exp(-(((x - z) / 0.7) ** 2)) for z, c in TERMS)
        assert float(response["value"]) == pytest.approx(full, abs=0.2)


def test_rows_alone_are_a_density_and_are_listed_among_jobs_and_models(requested: Run, terms: Path) -> None:
    options = ("--input", "x", "--width", "0.7", "--density", "--model", "heaps", "--max-functions", "3")
    done = requested("approximate", str(terms), *options)
    assert done.exit_code == 0, done.stderr
    assert "before it was made a density" in done.stdout
    job = next(job for job in json.loads(requested("jobs", "--json").stdout) if job["model"] == "heaps")
    assert (job["task"], job["density"], job["max_functions"]) == ("approximation", True, 3)
    assert "of the function's norm" in requested("jobs", job["id"]).stdout
    assert "(approximation)" in requested("jobs").stdout
    assert "heaps" in requested("models").stdout
    assert "gaussian, at" in requested("models", "heaps", "--relevance-vectors").stdout


def test_a_width_that_is_none_is_refused_before_anything_is_sent(run: Run, terms: Path) -> None:
    done = run("approximate", str(terms), "--width", "wide")
    assert done.exit_code == 2
    assert "wide is neither a number, nor numbers with commas between" in done.stderr
