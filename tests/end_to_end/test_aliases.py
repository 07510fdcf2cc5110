"""An alias moved by one API process, served by another, on both databases."""

import time

from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api

ROWS: dict[str, Json] = {"columns": {"x": [0.5]}}
MAX_SECONDS_STALE = 1.0


def last_stale_request(api: Api, required: int) -> float:
    """The time of the last request by the alias that was served by another version than the one wanted."""
    last = 0.0
    while True:
        requested_at = time.monotonic()
        if api.calls.predict("lines@champion", ROWS).version == required:
            return last
        last = requested_at


def test_a_move_is_served_by_another_process_within_a_second(two_apis: tuple[Api, Api]) -> None:
    here, there = two_apis
    xs: list[Json] = [x + 0.25 * (x % 3) for x in range(20)]
    ys: list[Json] = [2.0 * x + (x % 2) for x in range(20)]
    dataset = here.calls.create_dataset({"x": xs, "y": ys}, name="lines")
    for _ in range(2):
        here.train(dataset_id=dataset.id, target="y", prior={"type": "independent"}, basis={"type": "inputs"})
    here.calls.aliases.move("lines", "champion", 1)
    for required in (2, 1, 2):
        there.calls.predict("lines@champion", ROWS)
        here.calls.aliases.move("lines", "champion", required)
        moved_at = time.monotonic()
        assert last_stale_request(there, required) - moved_at < MAX_SECONDS_STALE
    assert there.calls.predict("lines@champion", ROWS).version == 2
    assert there.calls.predict("lines", ROWS, version=1).version == 1
