"""Some seconds of spoiled requests; RELEVANCE_FUZZ_SECONDS and RELEVANCE_FUZZ_SEED request more, and others."""

import os
from pathlib import Path

from tests.fuzz.fuzzer import fuzz
from tests.properties import repetitions
from tests.served import served

SECONDS = float(os.environ.get("RELEVANCE_FUZZ_SECONDS", repetitions(20, long=60)))
SEED = int(os.environ.get("RELEVANCE_FUZZ_SEED", "1"))
MIN_REQUESTS = 10 * SECONDS
MAX_GROWTH = 32.0
"""MB: allocators keep pieces of what was large, but not of each request one."""


def test_what_is_spoiled_is_refused_with_a_reason_and_leaves_nothing_behind(
    sqlite_template: Path, tmp_path: Path
) -> None:
    with served(sqlite_template, tmp_path) as service:
        found = fuzz(service, seconds=SECONDS, seed=SEED)
        assert found.wrong == []
        assert "unexpected" not in service.given()
    assert found.statuses.total() > MIN_REQUESTS
    assert {200, 400, 415, 422} <= {*found.statuses}
    assert found.last - found.warm < MAX_GROWTH
