"""Comparisons of two versions over HTTP."""

from dataclasses import replace

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from tests.applications import LIMITS, SmallParts
from tests.small_models import small_version

PATH = "/v1/models/small/versions/1/compare"
ROWS = [{"x": -1.0, "colour": "red"}, {"x": 1.0, "colour": "blue"}, {"x": 2.5, "colour": "red"}]


@pytest.fixture(autouse=True)
def others(parts: SmallParts, client: TestClient) -> None:
    """A challenger of the numbers, and classes in another order; both by aliases."""
    made = small_version(name="other")
    model = replace(made.predictor.model, mean=np.array([0.5, -1.0, 1.0]))
    parts.stored.put_version(OWNER, replace(made, predictor=replace(made.predictor, learned=model)), number=1)
    parts.stored.put_version(OWNER, small_version("classification", name="turned", classes=(True, False)), number=1)
    for name in ("small", "other", "turned"):
        client.put(f"/v1/models/{name}/aliases/best", json={"version": 1})


def test_numbers_are_compared_row_by_row_and_in_sum(client: TestClient) -> None:
    response = client.post(PATH, json={"with": "other@best", "rows": ROWS})
    assert response.status_code == 200, response.text
    shown = response.json()
    assert (shown["first"], shown["second"]) == ({"model": "small", "version": 1}, {"model": "other", "version": 1})
    requested = {"rows": ROWS, "outputs": ["mean", "sd"]}
    for model, side in (("small", "first"), ("other", "second")):
        alone = client.post(f"/v1/models/{model}/predict", json=requested).json()["predictions"]
        assert [row[side] for row in shown["rows"]] == alone
    differences = [row["difference"] for row in shown["rows"]]
    assert differences == [row["second"]["mean"] - row["first"]["mean"] for row in shown["rows"]]
    sizes = [abs(difference) for difference in differences]
    assert min(sizes) > 0.0
    summary = shown["summary"]
    assert summary["rows"] == 3
    assert summary["mean_difference"] == pytest.approx(sum(differences) / 3)
    assert summary["mean_absolute_difference"] == pytest.approx(sum(sizes) / 3)
    assert summary["largest"] == {"row": sizes.index(max(sizes)), "difference": differences[sizes.index(max(sizes))]}


def test_classes_are_compared_by_label_and_probability(client: TestClient) -> None:
    shown = client.post("/v1/models/classes/versions/1/compare", json={"with": "turned", "rows": ROWS}).json()
    variations = [row["total_variation"] for row in shown["rows"]]
    for row, variation in zip(shown["rows"], variations, strict=True):
        first, second = (
            {one["label"]: one["probability"] for one in row[side]["probabilities"]} for side in ("first", "second")
        )
        assert sum(abs(first[label] - second[label]) for label in (False, True)) / 2 == pytest.approx(variation)
        assert row["first"]["label"] is (first[True] > first[False])
    summary = shown["summary"]
    assert (
        summary["labels_differ"] == sum(row["first"]["label"] != row["second"]["label"] for row in shown["rows"]) == 3
    )
    assert summary["mean_total_variation"] == pytest.approx(sum(variations) / 3)
    assert summary["largest"] == {"row": variations.index(max(variations)), "total_variation": max(variations)}


@pytest.mark.parametrize(
    "table", [{"rows": ROWS}, {"columns": {"x": [-1.0, 1.0, 2.5], "colour": ["red", "blue", "red"]}}]
)
@pytest.mark.parametrize(
    "second",
    [
        "other@best",
        "other@1",
        "other",
        {"model": "other"},
        {"model": "other", "version": "best"},
        {"model": "other", "version": 1},
    ],
)
@pytest.mark.parametrize("first", ["1", "best"])
def test_both_may_be_named_in_every_way(
    client: TestClient, first: str, second: object, table: dict[str, object]
) -> None:
    required = client.post(PATH, json={"with": "other@1", "rows": ROWS}).content
    assert client.post(f"/v1/models/small/versions/{first}/compare", json={"with": second, **table}).content == required


@pytest.mark.parametrize(
    ("sent", "status", "pointer"),
    [
        ({"rows": ROWS}, 422, "/with"),
        ({"with": 7, "rows": ROWS}, 422, "/with"),
        ({"with": {"version": 1}, "rows": ROWS}, 422, "/with/model"),
        ({"with": {"model": "other", "version": 0}, "rows": ROWS}, 422, "/with/version"),
        ({"with": {"model": "other", "alias": "best"}, "rows": ROWS}, 422, "/with/alias"),
        ({"with": "nobody", "rows": ROWS}, 404, "/with"),
        ({"with": "other@0", "rows": ROWS}, 404, "/with"),
        ({"with": "other@nobody", "rows": ROWS}, 404, "/with"),
        ({"with": "classes", "rows": ROWS}, 409, "/with"),
    ],
)
def test_a_second_version_that_makes_no_sense_is_refused_at_its_place(
    client: TestClient, sent: dict[str, object], status: int, pointer: str
) -> None:
    response = client.post(PATH, json=sent)
    assert response.status_code == status, response.text
    assert {error["pointer"] for error in response.json()["errors"]} == {pointer}


@pytest.mark.parametrize(
    ("table", "status"),
    [
        ({"rows": [{"x": 1.0, "colour": "green"}]}, 422),
        ({"rows": [{"x": "a", "colour": "red"}]}, 422),
        ({"rows": [{"x": 1.0}]}, 422),
        ({"rows": ROWS, "interval": 0.9}, 422),
        ({"rows": ROWS * LIMITS.max_prediction_rows}, 413),
        ({}, 422),
        ({"rows": []}, 422),
        ({"columns": {"x": [], "colour": []}}, 422),
        ({"names": ["x", "colour"], "rows": []}, 422),
    ],
)
def test_rows_that_can_not_be_answered_are_refused(client: TestClient, table: dict[str, object], status: int) -> None:
    response = client.post(PATH, json={"with": "other", **table})
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"


def test_the_first_version_that_is_not_there_is_404_without_a_place(client: TestClient) -> None:
    response = client.post("/v1/models/small/versions/9/compare", json={"with": "other", "rows": ROWS})
    assert (response.status_code, response.json()["errors"]) == (404, [])
