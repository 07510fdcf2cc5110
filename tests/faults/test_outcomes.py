"""Predictions that are recorded while the database is away: none waits, and all are stored once it is back."""

import time
from pathlib import Path

from relevance_bayes.core.priors import Independent
from tests.end_to_end.deployment import deployed
from tests.faults.test_predictions import RESTORED_WITHIN, ROWS, Database, away, database
from tests.served import add_version
from tests.tasks.supervised.test_one_row import version_of_numbers
from tests.waiting import until

__all__ = ["database"]

N = 20
MAX_SECONDS = 1.0
"""The most time that a prediction takes after the outage was noticed."""


@away("sqlite-locked", "postgresql-killed")
def test_predictions_with_row_ids_never_wait_and_are_recorded_after_an_outage(
    database: Database, tmp_path: Path
) -> None:
    with deployed(database.url, tmp_path) as deployment:
        api = deployment.api()
        add_version(api.http, "numbers", version_of_numbers(Independent()))
        api.calls.outcomes.record("numbers", 1.0)
        path = "/v1/models/numbers/versions/1/predict"
        assert api.http.post(path, json=ROWS).status_code == 200
        database.take_away()
        until(lambda: api.http.get("/v1/models").status_code == 503, seconds=2 * database.refuses_within)
        for number in range(N):
            began = time.monotonic()
            assert api.http.post(path, json={**ROWS, "row_ids": [f"row-{number}"]}).status_code == 200
            assert time.monotonic() - began < MAX_SECONDS
        refused = api.http.post("/v1/models/numbers/outcomes", json={"row_ids": ["row-0"], "outcomes": [1.0]})
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
        database.give_back()
        until(lambda: api.http.get("/v1/models").status_code == 200, seconds=4 * RESTORED_WITHIN)
        outcomes = {f"row-{number}": 1.0 for number in range(N)}
        until(lambda: api.calls.outcomes.send("numbers", outcomes).unknown == 0, seconds=4 * RESTORED_WITHIN)
        (day,) = api.calls.outcomes.over_time("numbers")
        assert day.outcomes == N
