"""A width for each input, given or found, from a table to predictions on both databases."""

import math
from random import Random

import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api

ROWS = 90
POINTS = [-2.0, -0.5, 0.75, 2.5]


def table() -> dict[str, list[Json]]:
    """A wave along x, higher in the north; `aside` is uninformative and has gaps."""
    random = Random(11)
    columns: dict[str, list[Json]] = {"x": [], "aside": [], "side": [], "y": []}
    for row in range(ROWS):
        x, north = random.uniform(-3, 3), row % 3 == 0
        columns["x"].append(x)
        columns["aside"].append(None if row % 4 == 3 else random.gauss(0, 1))
        columns["side"].append("north" if north else "south")
        columns["y"].append(math.sin(2 * x) + (0.5 if north else 0.0) + random.gauss(0, 0.1))
    return columns


def trained(api: Api, name: str, width: Json) -> dict[str | None, float]:
    """The widths of a model under independent weights, by encoded column; its answers are near the truth."""
    dataset = api.calls.create_dataset(table(), name=name)
    api.train(
        dataset_id=dataset.id,
        model=name,
        target="y",
        inputs=["side", "x", "aside"],
        missing="indicator",
        prior={"type": "independent"},
        basis={"type": "kernel", "width": width},
    )
    rows: dict[str, Json] = {"x": list(POINTS), "aside": [0.0] * 4, "side": ["south"] * 4}
    responses = api.calls.predict(name, {"columns": rows}).predictions
    assert [response.mean for response in responses] == pytest.approx([math.sin(2 * x) for x in POINTS], abs=0.35)
    return {width.input: width.width for width in api.calls.version(name, 1).hyperparameters.widths}


def test_given_widths_are_those_of_every_column_that_an_input_becomes(api: Api) -> None:
    widths = trained(api, "widths-given", {"type": "fixed", "value": [2.0, 1.0, 50.0]})
    assert widths == {"side=north": 2.0, "side=south": 2.0, "x": 1.0, "aside": 50.0, "aside missing": 50.0}


def test_widths_found_under_independent_weights_state_which_inputs_matter(api: Api) -> None:
    widths = trained(api, "widths-found", {"type": "evidence_per_input"})
    assert set(widths) == {"side=north", "side=south", "x", "aside", "aside missing"}
    assert widths["aside"] > 5.0 * widths["x"]


def test_a_width_too_few_is_refused_where_it_is(api: Api) -> None:
    dataset = api.calls.create_dataset(table(), name="widths-too-few")
    basis: Json = [{"type": "bias"}, {"type": "kernel", "width": {"type": "fixed", "value": [1.0, 2.0]}}]
    requested: dict[str, Json] = {
        "target": "y",
        "inputs": ["side", "x", "aside"],
        "missing": "indicator",
        "basis": basis,
    }
    with pytest.raises(ClientError) as refused:
        api.calls.trainings.submit({"dataset_id": dataset.id, **requested})
    problem = refused.value.problem
    assert (problem.status, problem.errors[0].pointer) == (422, "/basis/1/width/value")
