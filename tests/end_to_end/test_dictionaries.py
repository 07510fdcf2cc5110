"""Functions that are on no row, from a request to predictions on both databases."""

from random import Random

import pytest

from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api

ROWS = 128


def staircase() -> dict[str, list[Json]]:
    """Two jumps in time, and a slope along `load`."""
    random = Random(5)
    time = [10.0 * row for row in range(ROWS)]
    load = [random.uniform(-1, 1) for _ in time]
    level = [5.0 * (at >= 400) - 3.0 * (at >= 900) + 2.0 * pull for at, pull in zip(time, load, strict=True)]
    return {"time": [*time], "load": [*load], "y": [value + random.gauss(0, 0.2) for value in level]}


def test_a_staircase_is_represented_by_where_it_jumps(api: Api) -> None:
    dataset = api.calls.create_dataset(staircase(), name="staircase")
    basis: Json = [
        {"type": "group", "inputs": ["time"], "of": {"type": "steps"}},
        {"type": "group", "inputs": ["time"], "of": {"type": "b_splines", "levels": 5}},
        {"type": "group", "inputs": ["load"], "of": {"type": "inputs"}},
        {"type": "bias"},
    ]
    job = api.train(dataset_id=dataset.id, model="staircase", target="y", basis=basis)
    assert job.basis[0] == {"type": "group", "inputs": ["time"], "of": {"type": "steps"}}
    version = api.calls.version("staircase", 1)
    assert version.basis == job.basis
    assert version.prior == {"type": "independent", "price": True, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}
    vectors = list(api.calls.relevance_vectors("staircase", 1))
    jumps = sorted(
        place for vector in vectors if vector.kind == "step" for place in [vector.shape[0].location] if place
    )
    assert jumps == pytest.approx([395.0, 895.0])
    assert [vector.input for vector in vectors if vector.kind == "input"] == ["load"]
    rows: dict[str, Json] = {"time": [100.0, 500.0, 1200.0], "load": [0.0, 0.0, 1.0]}
    responses = api.calls.predict("staircase", {"columns": rows}).predictions
    assert [response.mean for response in responses] == pytest.approx([0.0, 5.0, 4.0], abs=0.2)
