"""A version to a file and back, by the command."""

import json
import math
from pathlib import Path

import pytest

from tests.commands import Run
from tests.library.cli.conftest import Stub


@pytest.fixture
def trained(requested: Run, tmp_path: Path) -> Path:
    """A table that a model was trained on, named as it is."""
    rows = "".join(f"{i / 5},{math.sin(i / 5) + 0.1 * math.cos(40 * i)}\n" for i in range(-30, 31))
    file = tmp_path / "wave.csv"
    file.write_text("x,y\n" + rows)
    done = requested("train", str(file), "--target", "y", "--effort", "quick")
    assert done.exit_code == 0, done.stderr
    return file


def test_a_version_goes_to_a_file_and_comes_back_predicting_the_same(
    requested: Run, trained: Path, tmp_path: Path
) -> None:
    predicted = json.loads(requested("predict", "wave", str(trained), "--json").stdout)["predictions"]
    for form in ("json", "npz"):
        file = tmp_path / f"exported.{form}"
        done = requested("export", "wave", "1", "--format", form, "-o", str(file))
        assert (done.exit_code, done.stdout) == (0, f"Version 1 of wave is in {file}.\n"), done.stderr
        done = requested("import", str(file), "--model", f"twin-{form}")
        assert done.exit_code == 0, done.stderr
        assert "version 1 of wave, SHA-256" in done.stdout
        again = json.loads(requested("predict", f"twin-{form}", str(trained), "--json").stdout)["predictions"]
        assert again == predicted
    made = json.loads(requested("import", str(tmp_path / "exported.npz"), "--json").stdout)
    assert (made["model"], made["version"], made["imported"]["version"]) == ("wave", 2, 1)
    newest = requested("export", "wave", "-o", str(tmp_path / "newest.json"))
    assert newest.stdout.startswith("Version 2 of wave")


def test_a_files_ending_states_the_format_where_nothing_else_does(
    requested: Run, trained: Path, tmp_path: Path
) -> None:
    for name, begins in (("w.json", b'{"format":'), ("w.npz", b"PK"), ("w.py", b'"""'), ("w", b'{"format":')):
        done = requested("export", trained.stem, "-o", str(tmp_path / name))
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(begins), name
    assert requested("export", trained.stem, "-o", str(tmp_path / "w.py"), "--format", "npz").exit_code == 0
    assert (tmp_path / "w.py").read_bytes().startswith(b"PK")


def test_a_known_function_goes_to_a_file_and_comes_back_with_the_same_values(requested: Run, tmp_path: Path) -> None:
    table = tmp_path / "hills.csv"
    table.write_text("x\n" + "".join(f"{math.sin(i)}\n" for i in range(30)))
    done = requested("approximate", str(table), "--width", "0.5", "--tolerance", "0.1")
    assert done.exit_code == 0, done.stderr
    values = json.loads(requested("predict", "hills", str(table), "--json").stdout)["predictions"]
    assert requested("export", "hills", "-o", str(tmp_path / "hills.npz")).exit_code == 0
    done = requested("import", str(tmp_path / "hills.npz"), "--model", "twin")
    assert done.exit_code == 0, done.stderr
    assert "version 1 of hills, SHA-256" in done.stdout
    assert json.loads(requested("predict", "twin", str(table), "--json").stdout)["predictions"] == values
    for name, begins in (("hills.onnx", b"\x08"), ("hills.py", b'"""')):
        assert requested("export", "hills", "-o", str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_components_go_to_a_file_and_come_back_reporting_the_same(requested: Run, tmp_path: Path) -> None:
    table = tmp_path / "hoop.csv"
    table.write_text("x,z\n" + "".join(f"{math.cos(i / 10)},{math.sin(i / 10)}\n" for i in range(63)))
    done = requested("components", str(table))
    assert done.exit_code == 0, done.stderr
    reported = json.loads(requested("predict", "hoop", str(table), "--json").stdout)["predictions"]
    assert requested("export", "hoop", "-o", str(tmp_path / "hoop.json")).exit_code == 0
    done = requested("import", str(tmp_path / "hoop.json"), "--model", "circle")
    assert done.exit_code == 0, done.stderr
    assert "version 1 of hoop, SHA-256" in done.stdout
    assert json.loads(requested("predict", "circle", str(table), "--json").stdout)["predictions"] == reported
    for name, begins in (("hoop.onnx", b"\x08"), ("hoop.py", b'"""')):
        assert requested("export", "hoop", "-o", str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_report_of_a_version_is_one_file(
    requested: Run, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = requested("report", "wave", "1")
    assert (done.exit_code, done.stdout) == (0, "The report of version 1 of wave is in wave-1.html.\n"), done.stderr
    assert "<title>wave, version 1 – Relevance</title>" in (tmp_path / "wave-1.html").read_text()
    done = requested("report", "wave", "-o", "mine.html")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "mine.html").read_text().startswith("<!doctype html>")
    done = requested("report", "wave", "-o", "missing/report.html")
    assert (done.exit_code, done.stderr) == (1, "missing/report.html: No such file or directory\n")
    assert trained.is_file()


def test_what_can_not_be_read_or_written_is_stated(run: Run, stub: Stub, tmp_path: Path) -> None:
    url = stub({})
    for name, content in (("a.json", b"{}"), ("b.npz", b"no archive"), ("c.json", b'{"source": {"model": 7}}')):
        (tmp_path / name).write_bytes(content)
        done = run("import", str(tmp_path / name), "--url", url)
        assert done.exit_code == 1
        assert "Expected a .json or .npz file of `relevance export`" in done.stderr
    done = run("export", "wave", "-o", str(tmp_path / "x"), "--format", "pmml", "--url", url)
    assert done.exit_code == 2
