"""Records and progress as a person sees them."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from pydantic import TypeAdapter

from relevance_bayes.client.errors import Problem
from relevance_bayes.client.jobs import JobHandle
from relevance_bayes.client.predictions import PredictedTable
from relevance_bayes.client.progress import Html, Lines, Notebook, Terminal, display_of, event_html
from relevance_bayes.client.responses import Dataset, Prediction, Predictions, VersionBase
from relevance_bayes.client.uploads import arrow_parts
from relevance_bayes.records.batch_predictions import BatchPrediction
from relevance_bayes.records.html import MAX_CHARACTERS, facts_html, figure, progress_html, table_html
from relevance_bayes.records.jobs import JobProblem
from relevance_bayes.records.json import validate
from tests.library.cli.test_progress import EVENTS
from tests.library.client.conftest import Connected
from tests.library.client.test_batch_predictions import JOB
from tests.library.client.test_jobs import given, stream
from tests.library.client.test_recorded import EXCHANGES
from tests.library.client.test_tables import PREDICTED

NAUGHTY = "<script>alert('x')</script>&\"' ‮ \x00"
DATASET = {
    "id": NAUGHTY, "name": NAUGHTY, "created_at": "2026-01-02T03:04:05Z", "rows": 1234, "digest": "", "columns": [
        {"name": NAUGHTY, "kind": "category", "missing": 0, "distinct": 1, "categories": []},
        {"name": "x", "kind": "number", "missing": 7, "distinct": 3, "min": 0.0, "mean": 1 / 3, "max": 1.0, "sd": 0.5},
    ],
}  # fmt: skip
VERSION = {
    "model": NAUGHTY, "version": 3, "created_at": "2026-01-02T03:04:05Z", "job_id": None, "task": "of a later release",
    "inputs": [], "ignored": [], "functions": 7, "rows": 100, "dataset": {"id": "d", "digest": ""}, "seconds": 1.0,
    "software_version": "1", "description": NAUGHTY,
}  # fmt: skip


def job() -> BatchPrediction:
    found: BatchPrediction = validate(TypeAdapter(BatchPrediction), JOB)
    return found


def shown() -> dict[str, str]:
    """The HTML of each kind of record, with hostile texts in every member that may have them."""
    dataset: Dataset = validate(TypeAdapter(Dataset), DATASET)
    version: VersionBase = validate(TypeAdapter(VersionBase), VERSION)
    problem = JobProblem(type="", title=NAUGHTY, detail=NAUGHTY, instance="", errors=())
    rows = (Prediction(label=NAUGHTY), Prediction(error=Problem(title="", detail=NAUGHTY)))
    table = PREDICTED.rename_columns([NAUGHTY]).replace_schema_metadata({"model": NAUGHTY, "version": "1"})
    return {
        "dataset": dataset._repr_html_(),
        "job": replace(job(), model=NAUGHTY, error=problem)._repr_html_(),
        "version": version._repr_html_(),
        "predictions": Predictions(model=NAUGHTY, version=1, predictions=rows)._repr_html_(),
        "table": PredictedTable(b"".join(arrow_parts(table)))._repr_html_(),
    }


def test_texts_of_others_are_escaped_everywhere() -> None:
    for name, html in shown().items():
        assert "<script" not in html, name
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;&#x27;" in html, name


def test_a_dataset_shows_its_columns_with_their_figures() -> None:
    html = shown()["dataset"]
    assert "1,234 rows" in html
    assert "<td>x</td><td>number</td><td>7</td><td>3</td><td>0</td><td>0.33333</td><td>1</td><td>0.5</td>" in html


def test_a_job_shows_its_state_and_version() -> None:
    html = job()._repr_html_()
    assert "<tr><th>state</th><td>succeeded</td></tr>" in html
    assert "<tr><th>version</th><td>small, version 2</td></tr>" in html
    assert "error" not in html


def test_predictions_show_the_figures_that_they_have_and_not_all_rows() -> None:
    html = Predictions(model="m", version=2, predictions=(Prediction(mean=1.5, sd=0.25),) * 50)._repr_html_()
    assert "<th>mean</th><th>sd</th></tr>" in html
    assert html.count("<td>1.5</td>") == 20
    assert html.endswith("<p>30 more rows</p>")


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (True, "true"), (1234567, "1,234,567"), (1 / 3, "0.33333"), ("a", "a")]
)
def test_figures_are_short(value: object, text: str) -> None:
    assert figure(value) == text
    assert len(figure("x" * 10_000)) == MAX_CHARACTERS + 1


def test_facts_without_a_value_are_left_out() -> None:
    assert facts_html("c", {"a": None, "b": 0}) == (
        "<p><b>c</b></p><table><tbody><tr><th>b</th><td>0</td></tr></tbody></table>"
    )
    assert table_html("c", [], []).endswith("<tbody></tbody></table>")
    assert (progress_html(None), progress_html(2.0)) == (
        "<progress></progress>",
        '<progress max="1" value="1.000"></progress>',
    )


def test_outside_a_terminal_each_change_is_a_line() -> None:
    written: list[str] = []
    with Lines("rows", written.append) as display:
        for event in [*EVENTS, EVENTS[-1]]:
            display.show(event)
    assert "".join(written).splitlines() == [
        "rows: queued",
        "rows: running",
        "rows: width search 1/40 fits; log evidence -12.3, noise sd 0.1",
        "rows: width search 40/40 fits; 7 functions, log evidence -12.3, noise sd 0.1",
        "rows: succeeded",
    ]


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_terminal_it_is_a_bar_where_rich_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Tty())
    monkeypatch.setenv("TERM", "xterm")
    display = display_of("[rows]")
    assert isinstance(display, Terminal)
    with display:
        for event in EVENTS:
            display.show(event)
    last = terminal.getvalue().splitlines()[-2]
    assert "[rows]" in last
    assert "succeeded" in last
    monkeypatch.setattr("relevance_bayes.client.progress.find_spec", lambda _: None)
    assert isinstance(display_of("rows"), Lines)


class Output:
    """A cell's output."""

    shown: list[tuple[str, str]]

    def __init__(self) -> None:
        Output.shown = []

    def display(self, shown: Html) -> None:
        Output.shown.append(("new", shown._repr_html_()))

    def update(self, shown: Html) -> None:
        Output.shown.append(("changed", shown._repr_html_()))


def test_in_a_notebook_it_is_html_that_changes_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = type("ZMQInteractiveShell", (), {})()
    ipython, display_module = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: shell
    vars(display_module)["DisplayHandle"] = Output
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    display = display_of(NAUGHTY)
    assert isinstance(display, Notebook)
    for event in EVENTS:
        display.show(event)
    assert [how for how, _ in Output.shown] == ["new", *["changed"] * 4]
    assert '<progress max="1" value="0.025">' in Output.shown[2][1]
    assert not any("<script" in html for _, html in Output.shown)
    assert "<td>succeeded</td>" in event_html("rows", EVENTS[-1])
    vars(ipython)["get_ipython"] = lambda: None  # imported, not active
    assert isinstance(display_of("rows"), Lines)


def test_waiting_for_a_job_shows_its_events(connected: Connected, capsys: pytest.CaptureFixture[str]) -> None:
    path = "/v1/batch-predictions/one"
    pair = connected({
        f"GET {path}": lambda _: httpx.Response(200, json=JOB),
        f"GET {path}/events": lambda _: stream(given(1, "queued"), given(2, "succeeded")),
    })  # fmt: skip
    handle = pair.client.batch_predictions.handle(job())
    assert isinstance(handle, JobHandle)
    assert handle.wait(progress=True).result == pair.client.batch_predictions.wait("one", progress=True).result
    assert capsys.readouterr().err.splitlines() == ["small: queued", "small: succeeded"] * 2
    assert [event.number for event in handle.events()] == [1, 2]
    assert handle.get().state == "succeeded"
    assert "one" in handle._repr_html_()


def test_a_training_starts_from_a_dataset_a_file_or_a_table(connected: Connected, tmp_path: Path) -> None:
    submitted = next(one for one in EXCHANGES if (one.operation, one.status) == ("POST /v1/training-jobs", 202))
    pair = connected({
        "POST /v1/datasets": lambda _: httpx.Response(201, json={**DATASET, "id": "d"}),
        "POST /v1/training-jobs": lambda _: httpx.Response(202, json=submitted.response),
    })  # fmt: skip
    dataset = pair.client.create_dataset({"x": [1]}, name="n")
    (file := tmp_path / "n.csv").write_text("mean\n1\n")
    handles = [
        pair.client.trainings.start(data, target="mean", model="m", effort="quick")
        for data in (dataset, file, PREDICTED)
    ]
    assert isinstance(submitted.response, dict)
    assert {handle.path for handle in handles} == {f"/v1/training-jobs/{submitted.response['id']}"}
    types = [one.headers["Content-Type"] for one in pair.service.requested if one.url.path == "/v1/datasets"]
    assert types == ["application/json", "text/csv", "application/vnd.apache.arrow.stream"]
    requests = [json.loads(one.content) for one in pair.service.requested if one.url.path == "/v1/training-jobs"]
    assert requests == [{"dataset_id": "d", "target": "mean", "model": "m", "effort": "quick"}] * 3
