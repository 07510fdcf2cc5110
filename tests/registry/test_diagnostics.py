"""The diagnostics of a version over HTTP, and in documents."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import document_of, version_of
from relevance_bayes.documents.validation.figures import diagnostics_faults
from relevance_bayes.records.diagnostics import (
    Diagnostics,
    InputResiduals,
    LevelCoverage,
    Residuals,
    ResidualStatistics,
)
from relevance_bayes.records.json import encode, validate
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.applications import SmallParts
from tests.narrowing import of_kind
from tests.small_diagnostics import CLASSES, FOUND, OF_COLOUR, OF_X, PLAN, RELIABILITY, RESIDUALS, STEP, TRACE, kept


def test_a_version_returns_its_diagnostics_which_a_cache_may_keep(client: TestClient, parts: SmallParts) -> None:
    parts.stored.put_version(BUILT_IN_OWNER, kept(), number=1)
    response = client.get("/v1/models/kept/versions/1/diagnostics")
    assert response.status_code == 200
    assert of_kind(Diagnostics, validate(TypeAdapter(Diagnostics), response.json())) == FOUND
    assert "immutable" in response.headers["Cache-Control"]
    tag = {"If-None-Match": response.headers["ETag"]}
    assert client.get("/v1/models/kept/versions/1/diagnostics", headers=tag).status_code == 304
    assert "diagnostics" not in client.get("/v1/models/kept/versions/1").json()
    assert "diagnostics" not in client.get("/v1/models/kept/versions").json()["items"][0]


def test_a_version_without_diagnostics_has_no_such_resource(client: TestClient) -> None:
    response = client.get("/v1/models/small/versions/1/diagnostics")
    assert response.status_code == 404
    assert response.json()["detail"] == "Version 1 of model 'small' has no diagnostics."
    assert client.get("/v1/models/nothing/versions/1/diagnostics").status_code == 404


def test_documents_without_diagnostics_are_read() -> None:
    document = document_of(exported_of(kept()))
    assert document.report["diagnostics"]
    del document.report["diagnostics"]
    assert version_of(document).report.diagnostics is None


def exported_of(made: NewSupervisedVersion) -> ExportedSupervised:
    return ExportedSupervised("kept", 1, datetime.now(UTC), made.report, made.predictor)


NEGATIVE = LevelCoverage(0.5, -1.0, 0.1)


def of_inputs(*inputs: InputResiduals) -> Diagnostics:
    return replace(FOUND, residuals=replace(RESIDUALS, inputs=inputs))


@pytest.mark.parametrize(
    ("spoilt", "where"),
    [
        (replace(FOUND, reason="none"), "/reason"),
        (replace(FOUND, reliability=None), "/reason"),
        (replace(FOUND, reliability=CLASSES), "/reliability/kind"),
        (replace(FOUND, reliability=replace(RELIABILITY, rows=0)), "/reliability/rows"),
        (replace(FOUND, reliability=replace(RELIABILITY, pit=(1.5,))), "/reliability/pit"),
        (replace(FOUND, reliability=replace(RELIABILITY, pit=(0.0,) * 101)), "/reliability/pit"),
        (
            replace(FOUND, reliability=replace(RELIABILITY, coverage=(LevelCoverage(0.5, -1.0, 0.1),))),
            "/reliability/coverage",
        ),
        (replace(FOUND, residuals=replace(RESIDUALS, rows=11)), "/residuals/prediction"),
        (replace(FOUND, residuals=replace(RESIDUALS, inputs=(OF_COLOUR, OF_X))), "/residuals/inputs"),
        (
            replace(FOUND, residuals=replace(RESIDUALS, inputs=(replace(OF_X, edges=()),))),
            "/residuals/inputs/0/bins",
        ),
        (
            replace(FOUND, residuals=replace(RESIDUALS, inputs=(replace(OF_X, min=4.0),))),
            "/residuals/inputs/0/edges",
        ),
        (replace(FOUND, traces=(replace(TRACE, member=1),)), "/traces/0/member"),
        (replace(FOUND, traces=(replace(TRACE, kept=(STEP, STEP)),)), "/traces/0/kept"),
        (replace(FOUND, traces=(replace(TRACE, kept=(replace(STEP, noise_sd=-1.0),)),)), "/traces/0/kept/0/noise_sd"),
        (replace(FOUND, traces=(TRACE,) * 101), "/traces"),
    ],
)
def test_diagnostics_that_no_training_makes_are_refused(spoilt: Diagnostics, where: str) -> None:
    assert list(diagnostics_faults(FOUND, PLAN.inputs, (), 1)) == []
    faults = [fault.pointer for fault in diagnostics_faults(spoilt, PLAN.inputs, (), 1)]
    assert f"/report/diagnostics{where}" in faults


def test_those_of_classes_have_known_labels() -> None:
    found = replace(FOUND, reliability=CLASSES)
    assert list(diagnostics_faults(found, PLAN.inputs, ("a", "b"), 1)) == []
    faults = [fault.pointer for fault in diagnostics_faults(found, PLAN.inputs, ("b", "c"), 1)]
    assert faults == ["/report/diagnostics/reliability/curves"]


def test_the_largest_diagnostics_are_small() -> None:
    statistics = [ResidualStatistics(1_250, -0.12345678901234567, 0.12345678901234567)] * 16
    edges = tuple(1.7e9 + 0.1234567 * place for place in range(15))
    inputs = tuple(
        replace(OF_X, name=f"a name of an input {place}", edges=edges, bins=tuple(statistics)) for place in range(64)
    )
    step = replace(STEP, objective=-12345.678901234567, gain=0.12345678901234567, noise_sd=0.12345678901234567)
    largest = replace(
        FOUND,
        residuals=Residuals(source="holdout", rows=20_000, prediction=OF_X, inputs=inputs),
        traces=(replace(TRACE, kept=tuple(replace(step, iteration=place) for place in range(500))),),
    )
    assert len(json.dumps(encode(largest), separators=(",", ":"))) < 250_000
