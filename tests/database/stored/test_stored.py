"""Stored versions, in databases that `record.py` has made, predict as they did on the day they were stored."""

import base64
import io
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, get_args
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Column, Engine, MetaData, Uuid, select, types
from starlette.testclient import TestClient

from app.database.migrations import migrate
from app.main import make_application
from app.registry.repository import ModelRepository
from app.registry.tables import PosteriorRow
from app.registry.version_repository import encode_predictor
from relevance_bayes.core.likelihoods import LogVariance, TargetLikelihood
from tests.applications import LIMITS, StoredParts, closing_engine
from tests.class_names import stored_class_names
from tests.conftest import DATABASES

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]

FOLDER = Path(__file__).parent
RECORDED = sorted(path.name for path in FOLDER.glob("*.json.xz"))

EXACT = 1e-10
"""Rounding of predictions differs between processors by up to 1e-12: BLAS has products of its own for each."""


@dataclass(frozen=True)
class Opened:
    """A database that was recorded, migrated to the present revision, behind an application."""

    engine: Engine
    client: TestClient
    parts: StoredParts
    predictions: list[Members]


@pytest.fixture(scope="module", params=[f"{name} {database}" for name in RECORDED for database in DATABASES])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Each recorded one on each database."""
    name, database = str(request.param).split()
    recorded = json.loads(lzma.decompress((FOLDER / name).read_bytes()))
    with _empty(database, request, tmp_path_factory) as url, closing_engine(url) as engine:
        migrate(engine, recorded["revision"])
        _fill(engine, recorded["tables"])
        migrate(engine)
        parts = StoredParts.over(engine)
        application = make_application(parts, replace(LIMITS, max_body_bytes=10**6), log_requests=False)
        with TestClient(application, base_url="http://localhost") as client:
            yield Opened(engine, client, parts, recorded["predictions"])


@contextmanager
def _empty(database: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if database == "sqlite":
        path = tmp_path_factory.mktemp("stored") / "relevance.db"
        path.touch()
        yield f"sqlite:///{path}"
        return
    server = request.getfixturevalue("postgres_server")
    name = f"stored_{tmp_path_factory.mktemp('stored').name}"
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
            _same(now, _object(recorded["response"])["predictions"], model)


def _predicted(opened: Opened, model: str, request: Json) -> Json:
    response = opened.client.post(f"/v1/models/{model}/versions/1/predict", json=request)
    assert response.status_code == 200, response.text
    predictions: Json = response.json()["predictions"]
    return predictions


def _same(now: Json, before: Json, where: str) -> None:
    """Every figure that there was, exact to rounding; there may be others beside."""
    match now, before:
        case dict(), dict():
            for name, value in before.items():
                _same(now[name], value, f"{where}/{name}")
        case list(), list():
            assert len(now) == len(before), where
            for place, (one, other) in enumerate(zip(now, before, strict=True)):
                _same(one, other, f"{where}/{place}")
        case float(), float() | int():
            assert now == pytest.approx(before, rel=EXACT, abs=EXACT), where
        case _:
            assert now == before, where


def _object(value: Json) -> Members:
    assert isinstance(value, dict)
    return value


def test_what_was_exported_is_imported_and_predicts_what_the_version_does(opened: Opened) -> None:
    documented = [one for one in opened.predictions if one.get("document") is not None]
    assert len(documented) >= 40
    for recorded in documented:
        model = str(recorded["model"])
        response = opened.client.post(f"/v1/models/again-{model}/versions", json=recorded["document"])
        assert response.status_code == 201, response.text
        request = recorded["request"]
        _same(_predicted(opened, f"again-{model}", request), _predicted(opened, model, request), model)


def test_what_is_stored_is_what_would_be_written_today(opened: Opened) -> None:
    with opened.engine.connect() as connection:
        contents = connection.execute(select(PosteriorRow.version_id, PosteriorRow.content)).all()
    with opened.parts.transaction() as tx:
        for version_id, content in contents:
            assert encode_predictor(ModelRepository(tx).predictor(version_id)) == content


def test_every_kind_of_version_is_among_them(opened: Opened) -> None:
    versions = [opened.client.get(f"/v1/models/{one['model']}/versions/1").json() for one in opened.predictions]
    assert {version["task"] for version in versions} == {
        "regression", "classification", "approximation", "components", "image",
    }  # fmt: skip
    stored = {version["likelihood"]["type"] for version in versions if "likelihood" in version}
    likelihoods = {kind.type for kind in get_args(TargetLikelihood) if kind is not LogVariance}
    assert likelihoods - stored == set(), "add each to tests/database/stored/record.py, and record a file with it"
    assert stored - likelihoods == set(), "versions of these are stored, so they can't be removed"


def test_every_job_and_version_is_read(opened: Opened) -> None:
    for recorded in opened.predictions:
        version = opened.client.get(f"/v1/models/{recorded['model']}/versions/1").json()
        job = opened.client.get(f"/v1/training-jobs/{version['job_id']}")
        assert job.status_code == 200, job.text
        assert job.json()["state"] == "succeeded"


def test_no_name_of_a_class_is_in_the_database(opened: Opened) -> None:
    assert stored_class_names(opened.engine) == {}
