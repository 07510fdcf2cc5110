"""`-` is standard input and standard output; files of predictions have the same columns from every command."""

import csv
import io
import json
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from app.cli.commands import application
from relevance_bayes.cli import console
from relevance_bayes.cli.batch_predictions import BATCH_FORMATS
from relevance_bayes.records.formats import by_suffix
from tests.commands import Run

ROWS = "x,size,y\n" + "".join(
    f"{k * k % 37},{'large' if k % 2 else 'small'},{2 * (k * k % 37) + k % 2}\n" for k in range(40)
)


@pytest.fixture
def piped(requested: Run) -> "Piped":
    return Piped()


class Piped:
    """Runs `relevance` with a standard input."""

    def __call__(self, content: bytes | str, *arguments: str) -> Result:
        return CliRunner().invoke(application, arguments, input=content)


@pytest.fixture
def trained(piped: Piped) -> str:
    """The name of a model that is trained from standard input."""
    done = piped(ROWS, "train", "-", "--target", "y", "--model", "piped", "--effort", "quick")
    assert done.exit_code == 0, done.stderr
    return "piped"


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), out)
    return out.getvalue()


def feather() -> bytes:
    out = io.BytesIO()
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def arrow() -> bytes:
    out = io.BytesIO()
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


CONTENTS = {
    "csv": b"x,y\n1,a\n2,b\n",
    "ndjson": b'{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n',
    "one row of ndjson": b'{"x": 1, "y": "a"}\n',
    "json in a line": b'{"columns": {"x": [1, 2], "y": ["a", "b"]}}\n',
    "json": b'{\n"columns": {"x": [1, 2], "y": ["a", "b"]}}',
    "parquet": parquet(),
    "feather": feather(),
    "arrow": arrow(),
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", CONTENTS)
def test_the_format_of_standard_input_is_found_by_its_content(piped: Piped, form: str) -> None:
    done = piped(CONTENTS[form], "upload", "-", "--json", "--kind", "y:category")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["name"], found["rows"]) == ("stdin", 1 if form.startswith("one") else 2)
    assert [(column["name"], column["kind"]) for column in found["columns"]] == [("x", "number"), ("y", "category")]


def test_standard_input_without_content_is_refused(piped: Piped) -> None:
    done = piped(b"", "upload", "-")
    assert done.exit_code == 2
    assert "standard input is empty" in done.stderr


def test_the_spooled_standard_input_is_removed(piped: Piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert piped(CONTENTS["csv"], "upload", "-").exit_code == 0
    assert piped(b"\xff", "upload", "-").exit_code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_model_is_trained_and_predicts_from_pipe_to_pipe(piped: Piped, trained: str) -> None:
    done = piped("x,size\n3,large\n4,small\n", "predict", trained, "-", "-o", "-")
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["size"] for row in rows] == ["large", "small"]
    assert [round(float(row["mean"])) for row in rows] == [7, 8]
    assert piped("x,size\n3,large\n4,small\n", "predict", trained, "-").stdout == done.stdout
    whole = piped("x,size\n3,large\n4,small\n", "predict", trained, "-", "--format", "parquet", "-o", "-")
    assert pq.read_table(io.BytesIO(whole.stdout_bytes))["mean"].to_pylist() == [float(row["mean"]) for row in rows]


def test_predict_and_predict_dataset_name_columns_alike(piped: Piped, trained: str) -> None:
    beside = piped(ROWS, "predict", trained, "-").stdout.splitlines()[0].split(",")
    job = ("predict-dataset", trained, "-", "-o", "-")
    done = piped(ROWS, *job, "--keep", "x", "--keep", "size", "--keep", "y")
    assert done.exit_code == 0, done.stderr
    kept = next(csv.reader(io.StringIO(done.stdout)))
    assert kept[:3] == beside[:3] == ["x", "size", "y"]
    assert set(beside) <= set(kept)
    assert {"mean", "sd", "lower", "upper", "support"} <= set(beside)
    arrow = piped(ROWS, *job, "--format", "arrow")
    assert pa.ipc.open_stream(arrow.stdout_bytes).read_all().column_names == kept[3:]


EVERY_KIND = [
    ["x", "size", "code", "share", "day", "when", "n", "gap", "on"],
    ["1.50", "large", "00123", "12 %", "31.12.2025", "2025-12-31 05:06:07+00", "90071992547409931", "NA", "TRUE"],
    ["2e0", "small", "00124", "7.5 %", "01.01.2026", "2026-01-01 00:00:00+00", "17", "-1.0", "false"],
    ["+3", "large", "90210", "100.0 %", "15.01.2026", "", "3", "2", "TRUE"],
]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_columns_beside_predictions_are_those_of_the_file_to_the_letter(
    piped: Piped, trained: str, tmp_path: Path, delimiter: str
) -> None:
    file, names = tmp_path / "rows.csv", EVERY_KIND[0]
    with file.open("w", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(EVERY_KIND)
    kept = [option for name in reversed(names) for option in ("--keep", name)]
    for command in (
        ("predict", trained, str(file), "-o", "-"),
        ("predict-dataset", trained, str(file), "-o", "-", *kept),
    ):
        done = piped("", *command)
        assert done.exit_code == 0, done.stderr
        header, *rows = csv.reader(io.StringIO(done.stdout))
        by_name = [dict(zip(header, row, strict=True)) for row in rows]
        assert [[row[name] for name in names] for row in by_name] == EVERY_KIND[1:]
        assert header[: len(names)] == (names if command[0] == "predict" else names[::-1])
        assert [round(float(row["mean"])) for row in by_name] == [4, 4, 7]
    parquet_file = tmp_path / "kept.parquet"
    done = piped(
        "", "predict-dataset", trained, str(file), "-o", str(parquet_file), "--keep", "share", "--keep", "code"
    )
    assert done.exit_code == 0, done.stderr
    table = pq.read_table(parquet_file)
    assert table["share"].to_pylist() == [12.0, 7.5, 100.0]
    assert table["code"].to_pylist() == ["00123", "00124", "90210"]


def test_kept_texts_that_may_be_formulas_are_escaped_on_request(piped: Piped, trained: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("x,size,note\n1,large,=1+2\n-2,small,-2 km\n")
    for escapes, notes in (((), ["=1+2", "-2 km"]), (("--csv-escape-formulas",), ["'=1+2", "'-2 km"])):
        done = piped("", "predict-dataset", trained, str(file), "-o", "-", "--keep", "note", "--keep", "x", *escapes)
        assert done.exit_code == 0, done.stderr
        rows = [*csv.DictReader(io.StringIO(done.stdout))]
        assert [row["note"] for row in rows] == notes
        assert [row["x"] for row in rows] == ["1", "-2"]


def test_a_file_with_a_column_that_predictions_have_too_is_refused(piped: Piped, trained: str) -> None:
    done = piped("x,size,sd\n3,large,1\n", "predict", trained, "-")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "Predictions have a column 'sd' too" in done.stderr
    assert piped("x,size,noise\n3,large,1\n", "predict", trained, "-").exit_code == 0


@pytest.mark.thorough
def test_versions_are_exported_and_imported_through_pipes(piped: Piped, trained: str) -> None:
    for form in ("json", "npz"):
        made = piped(b"", "export", trained, "-o", "-", "--format", form)
        assert made.exit_code == 0, made.stderr
        done = piped(made.stdout_bytes, "import", "-", "--model", f"again-{form}", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["imported"]["model"] == trained
    report = piped(b"", "report", trained, "-o", "-")
    assert report.stdout.lower().startswith("<!doctype html>")
    assert report.stdout.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "piped", "-o", "-", "--format", "npz"),
        ("predict", "piped", "FILE", "--format", "parquet"),
        ("predict", "piped", "FILE", "--format", "npy", "-o", "-"),
        ("predict-dataset", "piped", "FILE", "-o", "-", "--format", "feather"),
    ],
)
def test_a_terminal_shows_no_bytes(
    trained: str, requested: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)

    def refuse_on_a_terminal(form: str, *, is_text: bool) -> None:
        with monkeypatch.context() as terminal:
            terminal.setattr(sys.stdout, "isatty", lambda: True, raising=False)
            original(form, is_text=is_text)

    original = console.refuse_binary
    for module in ("console", "predictions", "batch_predictions"):
        monkeypatch.setattr(f"relevance_bayes.cli.{module}.refuse_binary", refuse_on_a_terminal)
    done = requested(*(str(file) if one == "FILE" else one for one in arguments))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "can't be shown on a terminal" in done.stderr


def test_the_verdict_of_a_trial_leaves_standard_output_to_no_report(piped: Piped) -> None:
    done = piped(ROWS, "try", "-", "--target", "y", "-o", "-")
    assert done.exit_code == 2
    assert "standard output has the verdict" in done.stderr


def test_the_suffix_of_each_format_that_is_found_is_that_of_a_format() -> None:
    assert all(by_suffix(Path(f"stdin{suffix}")) is not None for suffix in console.HEADS.values())
    assert {form.name for form in BATCH_FORMATS} == {"csv", "arrow", "parquet", "feather"}


def test_zips_are_workbooks_or_exported_versions(tmp_path: Path) -> None:
    for member, suffix in (("xl/workbook.xml", ".xlsx"), ("document.json", ".npz")):
        file = tmp_path / "file"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(member, "")
        assert console._suffix(file) == suffix
