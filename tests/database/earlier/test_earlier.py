"""Databases of earlier commits, as `record.py` made them with those commits, open and predict as they did there."""

import base64
import io
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Column, Engine, MetaData, Uuid, func, select, types
from starlette.testclient import TestClient

from app.application import make_application
from app.database.migrations import migrate
from app.identity import BUILT_IN_OWNER
from app.jobs.repository import JobRepository
from app.jobs.tables import JobCheckpointRow
from app.registry.repository import ModelRepository
from app.registry.tables import PosteriorRow
from app.registry.version_codec import encode_predictor
from tests.applications import LIMITS, StoredParts, closing_engine
from tests.class_names import stored_class_names
from tests.conftest import DATABASES

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]

FOLDER = Path(__file__).parent
COMMITS = ("b57404a", "2912980")

EXACT = 1e-10
"""Rounding of predictions differs between processors by up to 1e-12: BLAS has products of its own for each."""
SOFTMAX_THEN = 0.066
"""By how much probabilities of `categorical` were off in b57404a at most: they are averaged to .001 since."""

DATABASE_AND_COMMIT = [
    pytest.param(f"{commit} {database}", marks=() if commit == COMMITS[-1] else pytest.mark.thorough)
    for commit in COMMITS
    for database in DATABASES
]


@dataclass(frozen=True)
class Opened:
    """A database that was recorded, migrated to today's form, behind an application."""

    commit: str
    engine: Engine
    client: TestClient
    parts: StoredParts
    predictions: list[Members]


@pytest.fixture(scope="module", params=DATABASE_AND_COMMIT)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Each commit's on each database."""
    commit, database = str(request.param).split()
    recorded = json.loads(lzma.decompress((FOLDER / f"{commit}.json.xz").read_bytes()))
    with _empty(database, request, tmp_path_factory) as url, closing_engine(url) as engine:
        migrate(engine, recorded["revision"])
        _fill(engine, recorded["tables"])
        migrate(engine)
        parts = StoredParts.over(engine)
        application = make_application(parts, replace(LIMITS, max_body_bytes=10**6), log_requests=False)
        with TestClient(application, base_url="http://localhost") as client:
            yield Opened(commit, engine, client, parts, recorded["predictions"])


@contextmanager
def _empty(database: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if database == "sqlite":
        path = tmp_path_factory.mktemp("earlier") / "relevance.db"
        path.touch()
        yield f"sqlite:///{path}"
        return
    server = request.getfixturevalue("postgres_server")
    name = f"earlier_{tmp_path_factory.mktemp('earlier').name}"
    server.create(name)
    yield server.url(name).render_as_string(hide_password=False)
    server.drop(name)


def _fill(engine: Engine, tables: dict[str, list[Members]]) -> None:
    there = MetaData()
    with engine.begin() as connection:
        there.reflect(connection)
        for table in there.sorted_tables:
            if rows := tables.get(table.name, []):
                values = [{name: _value(cell, table.columns[name]) for name, cell in row.items()} for row in rows]
                connection.execute(table.insert(), values)


def _value(cell: Json, column: Column[object]) -> object:
    match cell, column.type:
        case {"base64": str(content)}, _:
            return base64.b64decode(content)
        case str(), types.DateTime():
            return datetime.fromisoformat(cell).replace(tzinfo=UTC)
        case str(), Uuid():
            return UUID(cell)
        case int(), types.Boolean():
            return bool(cell)
        case _:
            return cell


def test_every_version_predicts_what_it_did(opened: Opened) -> None:
    assert len(opened.predictions) > 50
    for recorded in opened.predictions:
        if recorded["request"] is None:
            path = f"/v1/models/{recorded['model']}/versions/1/image"
            response = opened.client.get(path, headers={"Accept": "application/x-npy"})
            before = np.load(io.BytesIO(base64.b64decode(str(recorded["response"]))))
            np.testing.assert_allclose(np.load(io.BytesIO(response.content)), before, rtol=EXACT, atol=EXACT)
        else:
            model = str(recorded["model"])
            now = _predicted(opened, model, recorded["request"])
            _same(now, _object(recorded["response"])["predictions"], model, _softmax_error(opened, model))


def _predicted(opened: Opened, model: str, request: Json) -> Json:
    response = opened.client.post(f"/v1/models/{model}/versions/1/predict", json=request)
    assert response.status_code == 200, response.text
    predictions: Json = response.json()["predictions"]
    return predictions


def _softmax_error(opened: Opened, model: str) -> float:
    likelihood = opened.client.get(f"/v1/models/{model}/versions/1").json().get("likelihood", {})
    return SOFTMAX_THEN if opened.commit == "b57404a" and likelihood.get("type") == "categorical" else EXACT


RENAMED = {"beyond": "residual"}
"""Members of predictions that have another name today."""


def _same(now: Json, before: Json, where: str, probabilities: float = EXACT) -> None:
    """Every figure that there was, exact to rounding, or as exact as probabilities are; there may be others beside."""
    match now, before:
        case dict(), dict():
            for name, value in before.items():
                _same(now[RENAMED.get(name, name)], value, f"{where}/{name}", probabilities)
        case list(), list():
            assert len(now) == len(before), where
            for place, (one, other) in enumerate(zip(now, before, strict=True)):
                _same(one, other, f"{where}/{place}", probabilities)
        case float(), float() | int():
            exact = probabilities if where.endswith("/probability") else EXACT
            assert now == pytest.approx(before, rel=EXACT, abs=exact), where
        case _:
            assert now == before, where


def _object(value: Json) -> Members:
    assert isinstance(value, dict)
    return value


def test_what_was_exported_is_imported_and_predicts_what_the_version_does(opened: Opened) -> None:
    documented = [one for one in opened.predictions if one.get("document") is not None]
    assert len(documented) >= 30
    for recorded in documented:
        model = str(recorded["model"])
        response = opened.client.post(f"/v1/models/again-{model}/versions", json=recorded["document"])
        assert response.status_code == 201, response.text
        request = recorded["request"]
        _same(_predicted(opened, f"again-{model}", request), _predicted(opened, model, request), model)


def test_what_the_migration_wrote_is_what_would_be_written_today(opened: Opened) -> None:
    with opened.engine.connect() as connection:
        contents = connection.execute(select(PosteriorRow.version_id, PosteriorRow.content)).all()
    with opened.parts.transaction() as tx:
        for version_id, content in contents:
            assert encode_predictor(ModelRepository(tx).predictor(version_id)) == content


def test_a_job_that_was_running_is_there_without_its_checkpoint(opened: Opened) -> None:
    with opened.engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(JobCheckpointRow)).scalar_one() == 0
    response = opened.client.get("/v1/training-jobs", params={"state": "running"})
    (job,) = response.json()["items"]
    with opened.parts.transaction() as tx:
        read = JobRepository(tx).get(BUILT_IN_OWNER, UUID(job["id"]))
    assert (read.state, read.for_model) == ("running", "unfinished")


def test_every_job_and_version_is_read(opened: Opened) -> None:
    for recorded in opened.predictions:
        version = opened.client.get(f"/v1/models/{recorded['model']}/versions/1").json()
        job = opened.client.get(f"/v1/training-jobs/{version['job_id']}")
        assert job.status_code == 200, job.text
        assert job.json()["state"] == "succeeded"


def test_no_name_of_a_class_is_in_the_database(opened: Opened) -> None:
    assert stored_class_names(opened.engine) == {}
