"""The histograms of a version are stored and exported with it; versions without them are read as before."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from pydantic import JsonValue

from app.exports import formats
from app.exports.formats import RENDERINGS
from app.registry.version_repository import REPORT
from app.tasks import task_of
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.documents.validation.figures import baseline_faults, input_row_faults
from relevance_bayes.records.reports import Baseline, CategoryHistogram, InputCells, NumberHistogram
from relevance_bayes.records.values import CategoryCount, Cell, InputColumn
from relevance_bayes.tasks.union import NewVersion, VersionReport
from tests.prediction.drifting import baseline_in, with_baseline, with_histograms
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_three_classes
from tests.small_tables import numbers

MEBIBYTE = 2**20
POINTS = {"x": numbers(*range(40)), "z": numbers(*range(40))}
MADE: Mapping[str, NewVersion] = {
    "regression": small_version(),
    "classification": version_of_three_classes(),
    "components": version_of_components(),
}


def exported(task: str) -> ExportedVersion:
    made = MADE[task]
    loaded = with_baseline(made, POINTS if task == "components" else None)
    return task_of(loaded.version.report).exported(loaded.version, made.predictor)


def document(made: ExportedVersion) -> dict[str, JsonValue]:
    found = json.loads(RENDERINGS["json"].render(made))
    assert isinstance(found, dict)
    return found


def reread(content: JsonValue) -> VersionReport:
    return version_of(DOCUMENT.validate_json(json.dumps(content), strict=True)).report


@pytest.mark.parametrize("task", MADE)
def test_histograms_come_back_from_a_document_as_they_were(task: str) -> None:
    made = exported(task)
    assert made.report.baseline is not None
    assert reread(document(made)).baseline == made.report.baseline
    text, arrays = formats.read(RENDERINGS["npz"].render(made), max_bytes=MEBIBYTE)
    back = reread(formats.with_arrays(json.loads(text), arrays))
    assert back.baseline == made.report.baseline


@pytest.mark.parametrize("task", MADE)
def test_histograms_come_back_from_the_database_as_they_were(task: str) -> None:
    report = exported(task).report
    assert REPORT.read(REPORT.write(report)) == report


@pytest.mark.parametrize("task", MADE)
def test_documents_and_stored_reports_without_histograms_are_read(task: str) -> None:
    made = exported(task)
    older = document(made)
    assert isinstance(older["report"], dict)
    del older["report"]["baseline"]
    assert reread(older) == with_histograms(made.report, None)
    stored = json.loads(REPORT.write(made.report))
    del stored["baseline"]
    assert REPORT.read(json.dumps(stored)) == with_histograms(made.report, None)


SMALL = baseline_in(with_baseline())
OF_X, OF_COLOUR = SMALL.inputs
assert isinstance(OF_X, NumberHistogram)
assert isinstance(OF_COLOUR, CategoryHistogram)
MANY = tuple(float(edge) for edge in range(200))
TWICE = (CategoryCount("red", 500), CategoryCount("red", 500))


@pytest.mark.parametrize(
    ("spoilt", "where"),
    [
        (replace(SMALL, rows=0), "/rows"),
        (replace(SMALL, inputs=(OF_COLOUR, OF_X)), "/inputs"),
        (replace(SMALL, inputs=(replace(OF_X, kind="timestamp"), OF_COLOUR)), "/inputs"),
        (replace(SMALL, target=replace(OF_X, name="z")), "/target"),
        (replace(SMALL, inputs=(replace(OF_X, edges=OF_X.edges[::-1]), OF_COLOUR)), "/inputs/0/edges"),
        (replace(SMALL, inputs=(replace(OF_X, edges=OF_X.edges[1:]), OF_COLOUR)), "/inputs/0/counts"),
        (replace(SMALL, inputs=(replace(OF_X, missing=1), OF_COLOUR)), "/inputs/0"),
        (replace(SMALL, inputs=(replace(OF_X, missing=-1), OF_COLOUR)), "/inputs/0"),
        (replace(SMALL, inputs=(OF_X, replace(OF_COLOUR, categories=TWICE))), "/inputs/1/categories"),
        (replace(SMALL, inputs=(OF_X, replace(OF_COLOUR, kind="boolean"))), "/inputs/1/categories"),
        (replace(SMALL, predictions=replace(OF_X, missing=1)), "/predictions"),
        (replace(SMALL, predictions=replace(OF_X, edges=MANY, counts=(1,) * 201)), "/predictions"),
        (replace(SMALL, inputs=(OF_X,) * 101), "/inputs"),
    ],
)
def test_histograms_that_no_training_makes_are_refused(spoilt: Baseline, where: str) -> None:
    plan = small_version().report.plan
    assert list(baseline_faults(SMALL, plan.inputs, None)) == []
    assert f"/report/baseline{where}" in [fault.pointer for fault in baseline_faults(spoilt, plan.inputs, None)]


def test_histograms_are_of_the_first_inputs_alone_where_there_are_many() -> None:
    plan = small_version().report.plan
    fewer = replace(SMALL, inputs=(OF_X,))
    assert list(baseline_faults(fewer, plan.inputs, None)) == []
    assert list(baseline_faults(None, plan.inputs, "y")) == []


KINDS: tuple[InputColumn, ...] = (
    InputColumn("x", "number"),
    InputColumn("colour", "category"),
    InputColumn("day", "timestamp"),
    InputColumn("holiday", "boolean"),
)
KEPT = (
    InputCells(name="x", cells=(1.5, None, 2)),
    InputCells(name="colour", cells=("red", "blue", None)),
    InputCells(name="day", cells=(None, "2026-01-31T12:00:00Z", "2026-02-01T00:00:00.25Z")),
    InputCells(name="holiday", cells=(True, None, False)),
)


def test_kept_rows_have_a_value_of_its_kind_for_each_input_or_none() -> None:
    assert list(input_row_faults(KEPT, KINDS)) == list(input_row_faults(None, KINDS)) == []
    assert list(input_row_faults(KEPT[::-1], KINDS)) == []


@pytest.mark.parametrize(
    ("place", "cells", "where"),
    [
        (0, ("1", None, 2), "/0/cells"),
        (0, (True, None, 2), "/0/cells"),
        (1, ("red", 1.0, None), "/1/cells"),
        (2, (None, 0.0, None), "/2/cells"),
        (2, (None, "2026-02-30", None), "/2/cells"),
        (3, (1, None, False), "/3/cells"),
        (3, (True,), "/3/cells"),
        (0, (), "/0/cells"),
        (0, (1.5,) * 257, "/0/cells"),
    ],
)
def test_kept_rows_that_no_training_keeps_are_refused(place: int, cells: tuple[Cell, ...], where: str) -> None:
    spoilt = [replace(one, cells=cells) if place == number else one for number, one in enumerate(KEPT)]
    assert f"/report/input_rows{where}" in [fault.pointer for fault in input_row_faults(spoilt, KINDS)]


def test_kept_rows_are_of_all_inputs() -> None:
    for spoilt in (KEPT[1:], (*KEPT, KEPT[0]), (replace(KEPT[0], name="z"), *KEPT[1:])):
        assert [fault.pointer for fault in input_row_faults(spoilt, KINDS)] == ["/report/input_rows"]
