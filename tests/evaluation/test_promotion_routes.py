"""Promotions over HTTP: requested, read, listed, ended."""

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.evaluation.jobs import PROMOTION_RESULT
from app.evaluation.metrics.numbers import NumberScores
from app.evaluation.metrics.paired import PairedDifferences, verdict
from app.http.conditional_requests import UNCONDITIONAL
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.tables import JobRow
from app.registry.alias_repository import AliasRepository
from relevance_bayes.records.evaluations import AnyPromotionResult, PromotionResult
from relevance_bayes.records.jobs import Transition
from tests.applications import DATASET, NOW, SmallParts
from tests.problems import assert_problem
from tests.small_models import small_version

PATH = "/v1/promotions"
REQUEST = {"version": 2, "dataset_id": str(DATASET.id)}
OF_BEST = "/v1/models/small/aliases/best/promotions"


@pytest.fixture
def duel(parts: SmallParts) -> SmallParts:
    """Version 1 of `small`, to which `best` points, and version 2."""
    parts.stored.put_version(OWNER, small_version(), number=2)
    with parts.stored.transaction() as tx:
        AliasRepository(tx).move(OWNER, "small", "best", to=1, by=OWNER, reason=None, condition=UNCONDITIONAL)
    return parts


def test_a_promotion_is_accepted_with_its_holder_and_what_is_usual(client: TestClient, duel: SmallParts) -> None:
    response = client.post(OF_BEST, json=REQUEST)
    job = response.json()
    assert response.status_code == 202
    assert response.headers["Location"] == f"{PATH}/{job['id']}"
    assert duel.stored.queue.submitted == [UUID(job["id"])]
    given = {
        name: job[name]
        for name in ("version", "alias", "champion", "metric", "margin", "criterion", "groups", "result")
    }
    assert given == {
        "version": {"model": "small", "version": 2},
        "alias": "best",
        "champion": 1,
        "metric": "rmse",
        "margin": 0.0,
        "criterion": "interval",
        "groups": None,
        "result": None,
    }


def test_an_alias_that_is_not_there_has_no_holder(client: TestClient, duel: SmallParts) -> None:
    assert client.post("/v1/models/small/aliases/newest/promotions", json=REQUEST).json()["champion"] is None
    assert duel.stored.count(JobRow) == 1


def test_what_was_found_is_shown(client: TestClient, duel: SmallParts) -> None:
    job_id = UUID(client.post(OF_BEST, json={**REQUEST, "metric": "mae"}).json()["id"])
    paired = PairedDifferences("mae")
    paired.add(np.full(50, 2.0), np.ones(50))
    moved, reason = verdict(paired.result(), margin=0.0, by="interval", lost_rows=0)
    nothing = NumberScores.empty().result()
    job = duel.stored.job(job_id)
    seen = replace(nothing, rows_seen_in_training=7)
    result: AnyPromotionResult = PromotionResult(
        moved=moved,
        reason=reason,
        improvement=paired.result(),
        rows_seen_in_training=9,
        rows_without_challenger_loss=0,
        challenger=seen,
        champion=nothing,
    )
    duel.stored.put_job(
        replace(
            job,
            state="succeeded",
            finished_at=NOW,
            transitions=(Transition("succeeded", NOW, 1),),
            result=PROMOTION_RESULT.write(result),
        )
    )
    shown = client.get(f"{PATH}/{job_id}").json()["result"]
    assert (shown["moved"], shown["improvement"]["estimate"], shown["champion"]["rows"]) == (True, 1.0, 0)
    assert (shown["rows_seen_in_training"], shown["challenger"]["rows_seen_in_training"]) == (9, 7)
    assert (shown["champion"]["rows_seen_in_training"], shown["improvement"]["groups"]) == (None, None)
    assert shown["reason"].startswith("mae 2.000 -> 1.000, improvement 1 (95 %: 1 to 1)")
    (listed,) = client.get(f"{PATH}?model=small&version=2&state=succeeded").json()["items"]
    assert client.get(f"{PATH}?version=1").json()["items"] == []
    assert (listed["result"]["challenger"]["diagnostics"], shown["challenger"]["diagnostics"] is None) == (None, False)


def test_what_makes_no_sense_is_refused_with_its_place(client: TestClient, duel: SmallParts) -> None:
    detail = "Alias 'best' of model 'small' points to version 1 already."
    assert_problem(
        client.post(OF_BEST, json={**REQUEST, "version": 1}),
        "conflict",
        detail,
        [{"detail": detail, "pointer": "/version"}],
    )
    detail = "Expected a metric of regression, one of rmse, mae, nll; got brier."
    assert_problem(
        client.post(OF_BEST, json={**REQUEST, "metric": "brier"}),
        "invalid-request",
        detail,
        [{"detail": detail, "pointer": "/metric"}],
    )
    for wrong in ({"margin": -1.0}, {"criterion": "hope"}, {"model": "small"}, {"groups": 3}, {"groups": "ward"}):
        assert client.post(OF_BEST, json={**REQUEST, **wrong}).status_code == 422
    assert client.post("/v1/models/small/aliases/7/promotions", json=REQUEST).status_code == 422
    assert duel.stored.count(JobRow) == 0


def test_it_is_ended_and_done_again_by_its_own_paths(client: TestClient, duel: SmallParts) -> None:
    job_id = client.post(OF_BEST, json=REQUEST).json()["id"]
    assert_problem(client.get(f"/v1/evaluations/{job_id}"), "not-found", f"There is no evaluation {job_id}.")
    assert client.post(f"{PATH}/{job_id}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{PATH}/{job_id}/retry").json()["retry_of"] == job_id
    assert len(client.get(f"{PATH}/{job_id}/events").json()["items"]) == 2
    assert duel.stored.count(JobRow) == 2
