"""The client commands against a real service: what a person and a script see."""

import csv
import gzip
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

from app.formats import FORMATS, named
from tests.commands import Run
from tests.table_files import NAMED_ROWS, RESPONSE_FORMATS, FlatRow, read, written

NUMBERS = (
    "mean",
    "sd",
    "variance_total",
    "variance_noise",
    "variance_weights",
    "variance_beyond",
    "lower",
    "upper",
    "support",
)
"""The columns of a matrix of predictions."""

ROWS = [(i / 4, "even" if i % 2 == 0 else "odd", i / 4 + (3 if i % 2 == 0 else 0)) for i in range(40)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "lines.csv"
    path.write_text("note,x,parity,y\n" + "".join(f"row {x:g},{x},{parity},{y}\n" for x, parity, y in ROWS))
    return path


@pytest.fixture(scope="module")
def trained(url: str, file: Path) -> str:
    """A model's name, trained once from the command line."""
    from typer.testing import CliRunner

    from app.cli.commands import application

    options = (
        "--target",
        "y",
        "--input",
        "x",
        "--input",
        "parity",
        "--prior",
        "independent",
        "--width",
        "3",
        "--effort",
        "quick",
    )
    done = CliRunner().invoke(application, ("train", str(file), *options, "--url", url))
    assert done.exit_code == 0, done.stderr
    assert "lines, version 1" in done.stdout
    assert "functions" in done.stdout
    assert "compared" not in done.stdout
    assert "lines: succeeded" in done.stderr
    return "lines"


@pytest.mark.thorough
def test_what_was_learned_can_be_had_as_json(requested: Run, trained: str) -> None:
    version = json.loads(requested("models", trained, "--json").stdout)
    assert version["model"] == trained
    assert version["hyperparameters"]["widths"] == [{"input": None, "width": 3.0}]
    assert [column["name"] for column in version["inputs"]] == ["x", "parity"]
    vectors = json.loads(requested("models", trained, "--relevance-vectors", "--json").stdout)
    sizes = [abs(vector["weight_mean"]) for vector in vectors]
    assert len(vectors) == version["functions"]
    assert sizes == sorted(sizes, reverse=True)


def test_datasets_and_versions_are_listed_by_name_and_tag(requested: Run, trained: str) -> None:
    assert requested("annotate", f"{trained}@1", "--tag", "stage:trial").exit_code == 0
    assert requested("aliases", "set", trained, "first", "1").exit_code == 0
    listed = requested("versions", trained, "--tag", "stage:trial").stdout.splitlines()
    (version,) = json.loads(requested("versions", trained, "--json").stdout)
    assert listed[1].split()[:2] == ["1", "first"]
    rows, scores = next(iter(version["metrics"].items()))
    assert rows == "leave_one_out"
    assert f"rmse {scores['rmse']:.4g} leave-one-out" in listed[1]
    assert "stage:trial" in listed[1]
    assert requested("versions", trained, "--tag", "stage:live").stdout.strip() == "No versions."
    (dataset,) = json.loads(requested("datasets", "--name", "lines", "--json").stdout)
    assert dataset["id"] == version["dataset"]["id"]
    assert dataset["id"] in requested("datasets").stdout
    assert requested("datasets", "--name", "nobodys").stdout.strip() == "No datasets."
    assert requested("versions", "nobodys").exit_code == 1


@pytest.mark.thorough
@pytest.mark.parametrize("given", [(), ("--prior", "automatic")], ids=["unsaid", "automatic"])
def test_a_prior_that_was_left_open_is_reported_with_what_it_was_compared_with(
    requested: Run, tmp_path: Path, given: tuple[str, ...]
) -> None:
    rows = ((i / 5, math.sin(i / 5) + 0.1 * math.cos(40 * i)) for i in range(-30, 31))
    (tmp_path / "open.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    done = requested(
        "train", str(tmp_path / "open.csv"), "--target", "y", "--effort", "quick", "--kernel", "gaussian", *given
    )
    assert done.exit_code == 0, done.stderr
    for shown in (done.stdout, requested("models", "open").stdout):
        assert re.search(
            r"^compared models +independent with gaussian noise, .*gaussian.*: its integrated evidence is \S+ nats",
            shown,
            re.MULTILINE,
        ), shown
        assert re.search(r"^score +none: No rows were held out", shown, re.MULTILINE)
        assert re.search(r"^leave-one-out +rmse \S+, nll \S+, coverage 95 \S+ \(a diagnostic\) *$", shown, re.MULTILINE)
    version = json.loads(requested("models", "open", "--json").stdout)
    assert [one["prior"]["type"] for one in version["alternatives"]] == ["independent"]
    assert version["integrated_evidence"] > version["alternatives"][0]["score"]
    job = next(job for job in json.loads(requested("jobs", "--json").stdout) if job["model"] == "open")
    assert [alternative["prior"]["type"] for alternative in job["compared_models"]] == ["independent"]
    assert "independent with gaussian noise" in requested("jobs", job["id"]).stdout


def test_a_process_reports_its_widths_and_gains(requested: Run, file: Path) -> None:
    options = ("--target", "y", "--input", "x", "--input", "parity", "--model", "process")
    done = requested("train", str(file), *options, "--prior", "gaussian_process", "--kernel", "matern_5_2")
    assert done.exit_code == 0, done.stderr
    shown = requested("models", "process").stdout
    for name in ("signal sd", "gains", "width"):
        assert f"\n{name} " in shown, shown
    assert "next would bring" in shown
    assert re.search(r"^score +\S+ \+- \S+ nats a row, on \d+ rows left out, in 5 folds *$", shown, re.MULTILINE), shown
    assert "parity" in requested("models", "process", "--relevance-vectors").stdout


def test_predictions_come_beside_their_rows_as_csv(requested: Run, trained: str, file: Path) -> None:
    done = requested("predict", trained, str(file))
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["note", "x", "parity", "y", "mean", "sd", "lower", "upper", "support"]
    assert [row["note"] for row in rows] == [f"row {x:g}" for x, _, _ in ROWS]
    assert all(float(row["lower"]) < float(row["mean"]) < float(row["upper"]) for row in rows)
    assert max(abs(float(row["mean"]) - y) for row, (_, _, y) in zip(rows, ROWS, strict=True)) < 0.2


def test_formulas_in_csv_are_escaped_where_that_is_requested(
    requested: Run, trained: str, file: Path, tmp_path: Path
) -> None:
    names, row, *_ = file.read_text().splitlines()
    harmful = tmp_path / "harmful.csv"
    harmful.write_text(f"{names},=more,number\n{row},=1+1,-3\n")
    plain = requested("predict", trained, str(harmful)).stdout.splitlines()
    safe = requested("predict", trained, str(harmful), "--csv-escape-formulas").stdout.splitlines()
    assert plain[0].startswith(f"{names},=more,number,")
    assert plain[1].startswith(f"{row},=1+1,-3")
    assert safe == [plain[0].replace("=more", "'=more"), plain[1].replace("=1+1", "'=1+1")]


def test_predictions_are_the_same_from_csv_parquet_json_and_compressed_files(
    requested: Run, trained: str, file: Path, tmp_path: Path
) -> None:
    columns: dict[str, list[object]] = {"x": [x for x, _, _ in ROWS], "parity": [parity for _, parity, _ in ROWS]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    (tmp_path / "rows.json").write_text(json.dumps({"columns": columns}))
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(file.read_bytes()))
    (tmp_path / "rows.csv.zst").write_bytes(zstd.compress(file.read_bytes()))
    files = (file, *(tmp_path / f"rows.{suffix}" for suffix in ("parquet", "json", "csv.gz", "csv.zst")))
    responses = [json.loads(requested("predict", trained, str(name), "--json").stdout)["predictions"] for name in files]
    assert len(responses[0]) == len(ROWS)
    assert all(one == responses[0] for one in responses)


@pytest.mark.thorough
def test_predictions_are_the_same_from_every_format_and_from_npy(
    requested: Run, trained: str, file: Path, tmp_path: Path
) -> None:
    rows: list[FlatRow] = [{"x": x, "parity": parity} for x, parity, _ in ROWS]
    expected = json.loads(requested("predict", trained, str(file), "--json").stdout)["predictions"]
    for coded in NAMED_ROWS:
        path = tmp_path / f"rows{named(FORMATS, coded).suffixes[0]}"
        path.write_bytes(written(coded, rows))
        assert json.loads(requested("predict", trained, str(path), "--json").stdout)["predictions"] == expected, coded
    (tmp_path / "flat.csv").write_text("x,y\n" + "".join(f"{x},{3 * x}\n" for x, _, _ in ROWS))
    assert requested("train", str(tmp_path / "flat.csv"), "--target", "y", "--effort", "quick").exit_code == 0
    np.save(tmp_path / "flat.npy", np.array([[x] for x, _, _ in ROWS]))
    of_numbers = [
        json.loads(requested("predict", "flat", str(tmp_path / name), "--json").stdout)["predictions"]
        for name in ("flat.csv", "flat.npy")
    ]
    assert of_numbers[0] == of_numbers[1]


def test_predictions_alone_can_be_written_in_other_formats(requested: Run, trained: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("parity,x\n" + "".join(f"{parity},{x}\n" for x, parity, _ in ROWS))
    means = [
        row["mean"] for row in json.loads(requested("predict", trained, str(file), "--json").stdout)["predictions"]
    ]
    for coded in RESPONSE_FORMATS:
        done = requested("predict", trained, str(file), "--format", coded, "--output", str(tmp_path / coded))
        assert done.exit_code == 0, done.stderr
        assert f"Written to {tmp_path / coded}" in done.stdout
        reported = read(coded, (tmp_path / coded).read_bytes(), NUMBERS)
        assert [row["mean"] for row in reported] == means
    unknown = requested("predict", trained, str(file), "--format", "xml")
    assert unknown.exit_code == 2
    assert all(coded in unknown.stderr for coded in RESPONSE_FORMATS)
    lines = requested("predict", trained, str(file), "--format", "ndjson", "--interval", "0.5").stdout.splitlines()
    assert [json.loads(line)["mean"] for line in lines] == means
    (tmp_path / "rows.json").write_text("{}")
    refused = requested("predict", trained, str(tmp_path / "rows.json"), "--format", "csv")
    assert refused.exit_code == 1
    assert ".ndjson" in refused.stderr


def test_each_prediction_names_the_functions_that_add_most_to_it(requested: Run, trained: str, file: Path) -> None:
    done = requested("predict", trained, str(file), "--explain", "2")
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0])[-2:] == ["support", "because"]
    parts = [row["because"].split("; ") for row in rows]
    assert all(
        len(part) <= 4 and part[0].startswith("baseline: ") and part[-1].startswith("others: ") for part in parts
    )
    sums = [sum(float(part.rpartition(": ")[2]) for part in each) for each in parts]
    assert sums == pytest.approx([float(row["mean"]) for row in rows], abs=0.01)
    assert re.search(r"gaussian at row \d+ of the data: [+-]\d", rows[0]["because"])
    explained = json.loads(requested("predict", trained, str(file), "--explain", "2", "--json").stdout)["predictions"]
    assert {one["vector"] for one in explained[0]["explanation"]} <= set(range(1, 100))


@pytest.mark.thorough
def test_a_process_states_how_far_the_data_support_a_prediction(requested: Run, tmp_path: Path) -> None:
    (tmp_path / "waves.csv").write_text("x,y\n" + "".join(f"{i / 10},{math.sin(i / 10)}\n" for i in range(-30, 31)))
    options = ("--target", "y", "--model", "reach", "--prior", "gaussian_process")
    assert requested("train", str(tmp_path / "waves.csv"), *options).exit_code == 0
    (tmp_path / "places.csv").write_text("x\n0\n1e6\n")
    near, far = csv.DictReader(io.StringIO(requested("predict", "reach", str(tmp_path / "places.csv")).stdout))
    assert float(near["support"]) > 0.9
    assert float(far["support"]) < 0.01


def test_predictions_can_be_written_to_a_file(requested: Run, trained: str, file: Path, tmp_path: Path) -> None:
    done = requested("predict", trained, str(file), "--output", str(tmp_path / "out.csv"), "--version", "1")
    assert done.exit_code == 0, done.stderr
    assert len((tmp_path / "out.csv").read_text().splitlines()) == len(ROWS) + 1
    requested("predict", trained, str(file), "--output", str(tmp_path / "out.json"))
    assert len(json.loads((tmp_path / "out.json").read_text())["predictions"]) == len(ROWS)


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ("x,parity\n1,odd\nmany,odd\n", "Line 3"),
        ("x,parity\n1,neither\n", "neither"),
        ("x\n1\n", "parity"),
        ("x,parity\n", "no rows"),
    ],
    ids=["text for a number", "a new category", "a missing column", "no rows"],
)
def test_rows_that_cannot_be_predicted_for_leave_no_file(
    requested: Run, trained: str, tmp_path: Path, content: str, given: str
) -> None:
    (tmp_path / "rows.csv").write_text(content)
    files = (str(tmp_path / "rows.csv"), "--output", str(tmp_path / "out.csv"))
    done = requested("predict", trained, *files, "--unknown-categories", "error")
    assert done.exit_code == 1
    assert given in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_rows_with_a_new_category_are_predicted_with_a_sentence(requested: Run, trained: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,parity\n1,odd\n1,neither\n")
    done = requested("predict", trained, str(tmp_path / "rows.csv"), "--output", str(tmp_path / "out.csv"))
    assert done.exit_code == 0, done.stderr
    assert "No training row had parity 'neither': rows with such a value are predicted as averages" in done.stderr
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3


def test_jobs_are_listed_shown_and_cancelled(requested: Run, trained: str, tmp_path: Path) -> None:
    long = tmp_path / "long.csv"  # many functions are found in a wave with noise, for each width: half a minute
    rows = [(math.sin(row), math.sin(40.0 * math.sin(row)) + 0.3 * math.cos(3.0 * row * row)) for row in range(3_000)]
    long.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    options = ("--target", "y", "--model", "other", "--prior", "independent", "--priority", "-5", "--no-wait", "--json")
    submitted = json.loads(requested("train", str(long), *options).stdout)
    listed = requested("jobs").stdout
    assert submitted["id"] in listed
    assert trained in listed
    assert "y" in requested("jobs", submitted["id"]).stdout
    assert requested("jobs", "--retry", submitted["id"]).exit_code == 1
    assert submitted["id"] in requested("jobs", "--cancel", submitted["id"]).stdout
    ended = json.loads(requested("jobs", submitted["id"], "--json").stdout)
    while ended["state"] == "running":
        ended = json.loads(requested("jobs", submitted["id"], "--json").stdout)
    retried = json.loads(requested("jobs", "--retry", submitted["id"], "--json").stdout)
    assert (retried["retry_of"], retried["priority"]) == (submitted["id"], -5)
    assert submitted["id"] in requested("jobs", retried["id"]).stdout
    assert retried["id"] in requested("jobs", "--cancel", retried["id"]).stdout
    again = requested("jobs", "--cancel", "00000000-0000-7000-8000-000000000000")
    assert again.exit_code == 1


@pytest.mark.thorough
def test_classes_are_predicted_with_their_probabilities(requested: Run, tmp_path: Path) -> None:
    path = tmp_path / "sides.csv"
    path.write_text("x,side\n" + "".join(f"{i / 10},{'right' if i > 0 else 'left'}\n" for i in range(-20, 21)))
    trained = requested("train", str(path), "--target", "side", "--width", "1", "--json")
    assert trained.exit_code == 0, trained.stderr
    assert json.loads(trained.stdout)["classes"] == ["left", "right"]
    rows = list(csv.DictReader(io.StringIO(requested("predict", "sides", str(path)).stdout)))
    assert rows[0]["label"] == "left"
    assert rows[-1]["label"] == "right"
    assert float(rows[0]["probability_left"]) + float(rows[0]["probability_right"]) == pytest.approx(1)


@pytest.fixture(scope="module")
def frosts(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of nights with a model of their frost, trained once: true and false, in overlapping places."""
    from typer.testing import CliRunner

    from app.cli.commands import application

    path = tmp_path_factory.mktemp("nights") / "frosts.csv"
    nights = [(i / 10, (i < 0) != (i % 5 == 0 and abs(i) < 15)) for i in range(-20, 21)]
    path.write_text("degrees,frost\n" + "".join(f"{x},{str(frost).lower()}\n" for x, frost in nights))
    done = CliRunner().invoke(application, ("train", str(path), "--target", "frost", "--width", "2", "--url", url))
    assert done.exit_code == 0, done.stderr
    assert re.search(r"classes +false \(\d+ rows\), true \(\d+ rows\)", done.stdout)
    return path


def test_classes_are_decided_between_by_priors_and_costs(requested: Run, frosts: Path, tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text("[[0, 1], [9, 0]]")
    priors = '{"true": 0.1, "false": 0.9}'
    rule = ("--class-priors", priors, "--costs", str(tmp_path / "costs.json"), "--reject-cost", "0.5")
    done = requested("predict", "frosts", str(frosts), *rule)
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    added = ("label", "probability_false", "probability_true", "decision", "expected_cost", "support")
    assert list(rows[0])[2:] == list(added)
    for row in rows:
        no, yes = float(row["probability_false"]), float(row["probability_true"])
        expected = "" if min(9 * yes, no) > 0.5 else "true" if no <= 9 * yes else "false"
        assert row["decision"] == expected
        assert float(row["expected_cost"]) == pytest.approx(min(9 * yes, no, 0.5))
    assert {row["decision"] for row in rows} >= {"", "true"}
    reported = json.loads(requested("predict", "frosts", str(frosts), *rule, "--json").stdout)["predictions"]
    assert [one["decision"]["label"] for one in reported] == [
        {"": None, "true": True, "false": False}[row["decision"]] for row in rows
    ]
    plain = csv.DictReader(io.StringIO(requested("predict", "frosts", str(frosts)).stdout))
    assert "frost_decision" not in next(plain)


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        (("--class-priors", '{"maybe": 1}'), "--class-priors: there is no class maybe; the classes are false, true."),
        (("--class-priors", '{"true": "much"}'), "--class-priors: At /true: Should be a valid number, got"),
        (("--class-priors", '{"true": 0.5}'), "Each class needs a prior; there is none for false."),
        (("--class-priors", "absent.json"), "--class-priors: neither JSON nor a file: No such file"),
        (("--costs", "[[0, 1]"), "--costs: Invalid JSON: EOF while parsing a list"),
        (("--costs", "[[0, 1]]"), "Expected 2 rows, one for each true class in the order of `classes`, got 1."),
    ],
    ids=["unknown class", "no number", "missing class", "no file", "broken", "not square"],
)
def test_a_rule_that_can_not_be_read_is_refused_and_leaves_no_file(
    requested: Run, frosts: Path, tmp_path: Path, rule: tuple[str, ...], given: str
) -> None:
    done = requested("predict", "frosts", str(frosts), *rule, "--output", str(tmp_path / "out.csv"))
    assert done.exit_code == 1
    assert given in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_about_a_number_there_is_nothing_to_decide(requested: Run, trained: str, file: Path) -> None:
    done = requested("predict", trained, str(file), "--class-priors", '{"low": 1}')
    assert done.exit_code == 1
    assert "Decisions are between classes, and this model predicts a number." in done.stderr


@pytest.fixture
def with_gaps(tmp_path: Path) -> Path:
    """Rows for the model of lines: complete, without one input, without the other, and too far away."""
    path = tmp_path / "gaps.csv"
    path.write_text("x,parity\n2.5,even\n,even\n2.5,\n1e300,odd\n")
    return path


def test_rows_with_missing_values_are_averages_with_a_note(requested: Run, trained: str, with_gaps: Path) -> None:
    with_gaps.write_text("x,parity\n2.5,even\n,even\n2.5,\n")
    done = requested("predict", trained, str(with_gaps))
    assert done.exit_code == 0, done.stderr
    known, *missing = csv.DictReader(io.StringIO(done.stdout))
    assert all(float(row["sd"]) > 2 * float(known["sd"]) for row in missing)
    assert (missing[0]["x"], missing[1]["parity"]) == ("", "")
    assert "Values are missing in x, parity: rows without one are predicted as averages" in done.stderr
    assert "--nulls error refuses them" in done.stderr
    document = json.loads(requested("predict", trained, str(with_gaps), "--json").stdout)
    assert [one["mean"] for one in document["predictions"]] == [float(row["mean"]) for row in (known, *missing)]
    flat = requested("predict", trained, str(with_gaps), "--format", "csv")
    assert [row["mean"] for row in csv.DictReader(io.StringIO(flat.stdout))] == [
        row["mean"] for row in (known, *missing)
    ]


@pytest.mark.parametrize("options", [(), ("--format", "csv")], ids=["rows", "file"])
def test_rows_with_missing_values_are_refused_on_request(
    requested: Run, trained: str, with_gaps: Path, options: tuple[str, ...]
) -> None:
    done = requested("predict", trained, str(with_gaps), "--nulls", "error", *options)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "`x` is missing." in done.stderr
    assert "train" not in done.stderr.replace("training", "")  # another version would be no better


def test_the_reasons_of_rows_without_a_prediction_are_in_a_last_column(
    requested: Run, trained: str, with_gaps: Path
) -> None:
    done = requested("predict", trained, str(with_gaps), "--on-error", "row")
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0])[-1] == "error"
    assert [row["mean"] == "" for row in rows] == [False, False, False, True]
    assert [row["error"] for row in rows[:3]] == ["", "", ""]
    assert "too far from the training data" in rows[3]["error"]
    strict = requested("predict", trained, str(with_gaps), "--on-error", "row", "--nulls", "error")
    errors = [row["error"] for row in csv.DictReader(io.StringIO(strict.stdout))]
    assert errors[:3] == ["", "`x` is missing.", "`parity` is missing."]
    flat = requested("predict", trained, str(with_gaps), "--on-error", "row", "--format", "csv")
    assert [row["mean"] == "" for row in csv.DictReader(io.StringIO(flat.stdout))] == [False, False, False, True]
    document = json.loads(requested("predict", trained, str(with_gaps), "--on-error", "row", "--json").stdout)
    assert ["error" in one for one in document["predictions"]] == [False, False, False, True]


def test_without_the_option_a_row_without_a_prediction_refuses_the_file(
    requested: Run, trained: str, with_gaps: Path
) -> None:
    done = requested("predict", trained, str(with_gaps))
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "too far from the training data" in done.stderr


def test_three_classes_are_shown_with_a_weight_and_a_probability_for_each(requested: Run, tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    sizes = {-1: "small", 0: "middle", 1: "large"}
    path.write_text("x,size\n" + "".join(f"{i / 10},{sizes[(i > 10) - (i < -10)]}\n" for i in range(-30, 31)))
    options = ("--target", "size", "--likelihood", "categorical", "--width", "1.5", "--effort", "quick")
    trained = requested("train", str(path), *options)
    assert trained.exit_code == 0, trained.stderr
    assert re.search(r"classes +large \(20 rows\), middle \(21 rows\), small \(20 rows\)", trained.stdout)
    assert re.search(r"likelihood +categorical", trained.stdout)
    vectors = requested("models", "sizes", "--relevance-vectors").stdout
    assert all(f"weight for {size}" in vectors for size in sizes.values())
    rows = list(csv.DictReader(io.StringIO(requested("predict", "sizes", str(path)).stdout)))
    assert [rows[place]["label"] for place in (0, 30, -1)] == ["small", "middle", "large"]
    shares = [float(rows[0][f"probability_{size}"]) for size in sizes.values()]
    assert sum(shares) == pytest.approx(1)


def test_noise_by_row_is_learned_from_reported_and_predicted_with(requested: Run, tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    noises = [0.1 if row % 2 else 0.3 for row in range(len(ROWS))]
    lines = [f"{x},{y},{sd}\n" for (x, _, y), sd in zip(ROWS, noises, strict=True)]
    path.write_text("x,y,sd\n" + "".join(lines))
    done = requested("train", str(path), "--target", "y", "--noise-column", "sd", "--prior", "gaussian_process")
    assert done.exit_code == 0, done.stderr
    assert "by row, in sd; root mean square 0.22" in done.stdout
    responses = json.loads(requested("predict", "measured", str(path), "--json").stdout)["predictions"]
    assert [one["variance"]["noise"] for one in responses] == pytest.approx([sd * sd for sd in noises])


def test_components_are_learned_shown_and_explain_rows(requested: Run, tmp_path: Path) -> None:
    usual, request, new = (tmp_path / name for name in ("usual.csv", "request.json", "new.csv"))
    usual.write_text("x,z\n" + "".join(f"{i % 7},{(i * 5) % 11}\n" for i in range(60)))
    request.write_text(json.dumps({"task": "components", "width": [2.0, 3.0], "inputs": ["x", "z"]}))
    done = requested("train", str(usual), "--request", str(request))
    assert done.exit_code == 0, done.stderr
    verdict, _, table = done.stdout.partition("\n\n")
    assert verdict.startswith("usual, version 1, scores how new a row is.\n")
    facts = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in table.splitlines())
    assert facts["task"] == "components of rows, by a gaussian kernel"
    assert facts["rows"] == "60"
    assert facts["width"] == "x 2, z 3 (in the user's units)"
    kept = re.fullmatch(r"(\d+) rows, which carry (\d+) components", facts["kept"])
    assert kept is not None
    new.write_text("note,x,z\nas before,3,4\naway,50,4\n")
    first, away = csv.DictReader(io.StringIO(requested("predict", "usual", str(new)).stdout))
    reported = min(10, int(kept[2]))
    named = (*(f"component_{k}" for k in range(1, reported + 1)), "reconstruction_error", "log_density", "novelty")
    assert tuple(first) == ("note", "x", "z", *named)
    assert (float(away["novelty"]), float(away["reconstruction_error"])) == (1.0, 1.0)
    assert float(first["log_density"]) > float(away["log_density"])
    job = json.loads(requested("jobs", "--json").stdout)[0]["id"]
    shown = requested("jobs", job).stdout
    assert re.search(r"^width +2, 3 *$", shown, re.MULTILINE)
    assert re.search(r"^min explained variance +90% before noise *$", shown, re.MULTILINE)
