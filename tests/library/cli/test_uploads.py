"""`relevance upload` and `relevance try`, with the options by which a file is read."""

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from typer.testing import CliRunner

from app.cli.commands import application
from tests.commands import Run

GERMAN = "Ort;Umsatz;Tage\n" + "".join(
    f"{'Ulm' if k % 2 else 'Hof'};{k}.{k + 200},5;{7 * k % 23}\n" for k in range(1, 41)
)
"""Numbers with a decimal comma and groups of three digits: 1.201,5 and so on."""


@pytest.fixture
def german(tmp_path: Path) -> Path:
    path = tmp_path / "german.csv"
    path.write_text(GERMAN)
    return path


def test_an_upload_shows_the_columns_with_kinds_and_values(url: str, run: Run, german: Path) -> None:
    done = run("upload", str(german), "--name", "sales", "--kind", "Tage:category", "--url", url)
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][2:] == ["sales,", "40", "rows"]
    assert ["Ort", "category", "0", "Hof,", "Ulm"] in lines
    assert ["Umsatz", "number", "0", "1201.5", "to", "40240.5"] in lines
    (tage,) = (line for line in lines if line[0] == "Tage")
    assert (tage[1:4], tage[-3:]) == (["category", "0", "1,"], ["and", "15", "more"])


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".ZST", zstd.compress)])
def test_a_compressed_file_is_the_dataset_that_it_is_uncompressed(
    url: str, run: Run, german: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    packed = german.with_name(german.name + suffix)
    packed.write_bytes(compress(german.read_bytes()))
    plain, found = (json.loads(run("upload", str(file), "--json", "--url", url).stdout) for file in (german, packed))
    assert found["name"] == plain["name"] == "german"
    assert found["columns"] == plain["columns"]


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ((), "refused"),
        (("--decimal", ","), [753.843, 1.25]),
        (("--thousands", ","), [753843.0, 1250.0]),
        (("--delimiter", "|", "--no-header"), "one column"),
    ],
)
def test_separators_are_options(
    url: str, run: Run, tmp_path: Path, options: tuple[str, ...], values: list[float] | str
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("price;n\n753,843;1\n1,250;2\n")
    done = run("upload", str(file), *options, "--json", "--url", url)
    if values == "refused":
        assert done.exit_code == 1
        assert '--decimal="," or --thousands=","' in done.stderr
    elif isinstance(values, str):
        assert done.exit_code == 0, done.stderr
        assert [column["name"] for column in json.loads(done.stdout)["columns"]] == ["column_1"]
    else:
        column = json.loads(done.stdout)["columns"][0]
        assert [column["max"], column["min"]] == values


@pytest.mark.parametrize("kind", ["price", "price:text", ":number"])
def test_a_kind_that_is_none_is_a_wrong_command_line(run: Run, german: Path, kind: str) -> None:
    done = run("upload", str(german), "--kind", kind)
    assert done.exit_code == 2
    assert "expected NAME:KIND with one of number, boolean, category, timestamp" in " ".join(done.stderr.split())


def test_a_refused_training_leaves_no_dataset(url: str, run: Run, german: Path) -> None:
    refused = german.rename(german.with_name("refused.csv"))
    done = run("train", str(refused), "--target", "Umsaetze", "--url", url)
    assert done.exit_code == 1
    assert "did you mean `Umsatz`" in done.stderr
    assert json.loads(run("datasets", "--name", "refused", "--json", "--url", url).stdout) == []


@pytest.mark.thorough
def test_try_shows_how_well_a_column_is_predicted_and_leaves_nothing(
    run: Run, german: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    report = tmp_path / "report.html"
    done = run("try", str(german), "--target", "Umsatz", "--effort", "quick", "--output", str(report))
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("german, version 1, predicts Umsatz from 2 inputs.\n")
    assert "rows held out" in done.stdout
    assert done.stderr.endswith(f"The report of version 1 of german is in {report}.\n")
    assert "<title>german, version 1 – Relevance</title>" in report.read_text()
    assert [*folder.iterdir()] == []


def test_try_refuses_a_report_in_no_folder_before_it_trains(run: Run, german: Path) -> None:
    done = run("try", str(german), "--target", "Umsatz", "--output", "missing/report.html")
    assert done.exit_code == 2
    assert "missing is no folder" in done.stderr
    assert "Starting" not in done.stderr


@pytest.mark.thorough
def test_try_without_a_target_prompts_on_a_terminal(german: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance_bayes.cli.training.has_terminal", lambda: True)
    done = CliRunner().invoke(application, ("try", str(german), "--effort", "quick"), input="Umsaetze\n9\n2\n")
    assert done.exit_code == 0, done.stderr
    assert "   2  Umsatz (number)" in done.stderr
    assert done.stderr.count("The column to predict, by name or number") == 3
    assert "predicts Umsatz" in done.stdout


@pytest.mark.thorough
def test_try_without_a_target_and_a_terminal_names_the_columns(run: Run, german: Path) -> None:
    done = run("try", str(german))
    assert done.exit_code == 2
    assert "pass one of the columns Ort, Umsatz, Tage" in " ".join(done.stderr.split())


def test_the_same_file_is_stored_once(requested: Run, german: Path) -> None:
    file = german.rename(german.with_name("once.csv"))
    first = json.loads(requested("upload", str(file), "--json").stdout)
    again = requested("upload", str(file), "--json")
    assert json.loads(again.stdout) == first
    assert f"Dataset {first['id']} (once, of " in again.stderr
    assert "has the same content: it is used." in again.stderr
    done = requested("train", str(file), "--target", "Umsatz", "--effort", "quick", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["dataset"]["id"] == first["id"]
    assert requested("evaluate", "once", str(file)).stderr.count("has the same content") == 1
    assert len(json.loads(requested("datasets", "--name", "once", "--json").stdout)) == 1
    other = json.loads(requested("upload", str(file), "--json", "--kind", "Tage:category").stdout)
    assert other["id"] != first["id"]


def test_a_refused_training_leaves_the_dataset_that_was_there(requested: Run, german: Path) -> None:
    file = german.rename(german.with_name("kept.csv"))
    first = json.loads(requested("upload", str(file), "--json").stdout)
    assert requested("train", str(file), "--target", "unknown").exit_code == 1
    assert [one["id"] for one in json.loads(requested("datasets", "--name", "kept", "--json").stdout)] == [first["id"]]


def test_dates_of_two_readings_are_refused_with_both_options(requested: Run, tmp_path: Path) -> None:
    file = tmp_path / "days.csv"
    file.write_text("day;sold\n03.04.2025;1\n05.06.2025;2\n")
    done = requested("upload", str(file))
    assert done.exit_code == 1
    assert '--date-format="%d.%m.%Y" or --date-format="%m.%d.%Y"' in done.stderr
    assert "2025-04-03 with the day first and 2025-03-04 with the month first" in done.stderr
    for pattern, first in (("%d.%m.%Y", "2025-04-03T00:00:00Z"), ("%m.%d.%Y", "2025-03-04T00:00:00Z")):
        found = json.loads(requested("upload", str(file), "--date-format", pattern, "--json").stdout)
        assert found["columns"][0]["kind"] == "timestamp"
        assert found["columns"][0]["min"] == first
    done = requested("upload", str(file), "--date-format", "%d.%m.%Q")
    assert done.exit_code == 1
    assert "got %Q" in done.stderr
