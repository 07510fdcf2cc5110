"""Profiles over HTTP, against averages of predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.records.json import validate
from relevance_bayes.records.predictions import Profile
from relevance_bayes.tables.encoding import EncodedCategory, EncodedEffects, EncodedInput
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.applications import LIMITS, SmallParts
from tests.narrowing import of_kind
from tests.problems import assert_problem
from tests.small_models import small_version, version_of_three_classes

Json = dict[str, object]
ROWS: list[Json] = [{"x": 0.5, "colour": "blue"}, {"x": 1.5, "colour": "red"}, {"x": 1.0, "colour": "red"}]


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    for made in (
        small_version(name="numbers", prior=GaussianProcess()),
        small_version("classification", name="two"),
        version_of_three_classes(name="three"),
        with_effects(small_version(name="effects", prior=GaussianProcess())),
    ):
        parts.stored.put_version(OWNER, made, number=1)
    parts.aliases.move(OWNER, "numbers", "champion", to=1)
    with TestClient(
        make_application(parts, replace(LIMITS, max_body_bytes=65_536, max_prediction_rows=9)),
        raise_server_exceptions=False,
        base_url="http://localhost",
    ) as client:
        yield client


def with_effects(made: NewSupervisedVersion) -> NewSupervisedVersion:
    """The version with texts by their effects, which are the columns that categories have."""
    inputs = tuple(map(of_effects, made.predictor.encoding.inputs))
    predictor = replace(made.predictor, encoding=replace(made.predictor.encoding, inputs=inputs))
    columns = tuple(replace(column, categories=()) for column in made.report.plan.inputs)
    return replace(
        made, predictor=predictor, report=replace(made.report, plan=replace(made.report.plan, inputs=columns))
    )


def of_effects(column: EncodedInput) -> EncodedInput:
    if not isinstance(column, EncodedCategory):
        return column
    effects = tuple(map(tuple, np.eye(len(column.categories)).tolist()))
    return EncodedEffects(
        column.name, column.categories, effects, fill=None if column.fill is None else 0.0, indicator=column.indicator
    )


def profiled(client: TestClient, model: str, **members: object) -> Profile:
    response = client.post(f"/v1/models/{model}/versions/1/profile", json=members)
    assert response.status_code == 200, response.text
    return of_kind(Profile, validate(TypeAdapter(Profile), response.json()))


def predicted(client: TestClient, model: str, rows: Sequence[Mapping[str, object]]) -> list[Json]:
    response = client.post(f"/v1/models/{model}/versions/1/predict", json={"rows": [*rows], "covariance": False})
    assert response.status_code == 200, response.text
    found: list[Json] = response.json()["predictions"]
    return found


def test_each_point_is_the_average_of_predictions_with_the_same_value(client: TestClient) -> None:
    found = profiled(client, "numbers", inputs=["x"], points=5, individual=2, rows=ROWS)
    assert (found.model, found.version, found.rows, found.band) == ("numbers", 1, 3, "mean")
    assert len(found.points) == 5
    (shown,) = found.inputs
    assert shown.values == pytest.approx(np.linspace(0.5, 1.5, 5))
    for point in found.points:
        rows = [{**row, "x": point.values[0]} for row in ROWS]
        means = [of_kind(float, one["mean"]) for one in predicted(client, "numbers", rows)]
        assert point.mean is not None
        assert point.mean == pytest.approx(np.mean(means))
        assert point.individual == pytest.approx(means[:2])
        assert point.band is not None
        assert point.band.mean == pytest.approx(point.mean)
        assert point.band.lower < point.mean < point.band.upper
        assert point.band.upper - point.band.mean == pytest.approx(1.959964 * point.band.sd, rel=1e-6)


def test_the_band_of_one_row_is_the_variance_of_its_mean(client: TestClient) -> None:
    found = profiled(client, "numbers", inputs=["x"], points=4, rows=ROWS[:1], interval=0.5)
    rows = [{**ROWS[0], "x": point.values[0]} for point in found.points]
    for point, one in zip(found.points, predicted(client, "numbers", rows), strict=True):
        variance = of_kind(dict, one["variance"])
        assert point.band is not None
        assert point.band.sd**2 == pytest.approx(variance["weights"] + variance["residual"], rel=1e-6)


def test_of_two_inputs_there_is_a_point_for_each_pair(client: TestClient) -> None:
    found = profiled(client, "numbers", inputs=["colour", "x"], points=3, rows=ROWS)
    x = found.inputs[1].values
    assert [point.values for point in found.points] == [(colour, at) for colour in ("blue", "red") for at in x]
    pairs = [{"colour": colour, "x": at} for colour in ("blue", "red") for at in x]
    means = [one["mean"] for one in predicted(client, "numbers", pairs)]
    assert [point.mean for point in found.points] == pytest.approx(means)


def test_of_two_classes_it_has_probabilities_and_the_band_of_the_latent(client: TestClient) -> None:
    found = profiled(client, "two", inputs=["x"], points=3, rows=ROWS, individual=3)
    assert found.band == "latent"
    for point in found.points:
        rows = [{**row, "x": point.values[0]} for row in ROWS]
        each = predicted(client, "two", rows)
        second = [of_kind(list, one["probabilities"])[1]["probability"] for one in each]
        assert [one.label for one in point.probabilities] == [False, True]
        assert point.probabilities[1].probability == pytest.approx(np.mean(second))
        assert point.individual == pytest.approx(second)
        assert (point.mean, point.band is None) == (None, False)
        assert point.band is not None
        assert point.band.mean == pytest.approx(np.mean([of_kind(dict, one["latent"])["mean"] for one in each]))


def test_of_three_classes_it_has_probabilities_alone(client: TestClient) -> None:
    found = profiled(client, "three", inputs=["x"], points=3, rows=ROWS)
    assert found.band is None
    assert {point.band for point in found.points} == {None}
    for point in found.points:
        assert sum(one.probability for one in point.probabilities) == pytest.approx(1.0)
    refused = client.post("/v1/models/three/versions/1/profile", json={"inputs": ["x"], "individual": 1, "rows": ROWS})
    detail = "Individual rows are returned for one input, and for numbers or two classes."
    assert_problem(refused, "invalid-request", detail, [{"pointer": "/individual", "detail": detail}])


def test_an_alias_names_the_version(client: TestClient) -> None:
    response = client.post("/v1/models/numbers/versions/champion/profile", json={"inputs": ["x"], "rows": ROWS})
    assert (response.status_code, response.json()["version"]) == (200, 1)
    assert client.post("/v1/models/numbers/versions/9/profile", json={"inputs": ["x"], "rows": ROWS}).status_code == 404


def test_texts_by_their_effects_have_the_values_of_the_rows(client: TestClient) -> None:
    found = profiled(client, "effects", inputs=["colour"], rows=ROWS[1:])
    assert [point.values for point in found.points] == [("red",)]
    (expected,) = (
        one for one in profiled(client, "numbers", inputs=["colour"], rows=ROWS[1:]).points if one.values == ("red",)
    )
    assert found.points[0].mean == pytest.approx(expected.mean)


def test_values_are_over_the_range_of_the_rows(client: TestClient) -> None:
    assert profiled(client, "numbers", inputs=["x"], points=3, rows=ROWS).inputs[0].values == (0.5, 1.0, 1.5)
    assert profiled(client, "numbers", inputs=["x"], rows=ROWS[:1]).inputs[0].values == (0.5,)


def test_rows_with_missing_values_are_averaged_as_they_are_predicted_without_a_band(client: TestClient) -> None:
    rows: list[Json] = [*ROWS, {"x": 1.2, "colour": None}]
    found = profiled(client, "numbers", inputs=["x"], points=2, rows=rows)
    assert (found.rows, found.band, {point.band for point in found.points}) == (4, None, {None})
    for point in found.points:
        each = predicted(client, "numbers", [{**row, "x": point.values[0]} for row in rows])
        assert point.mean == pytest.approx(np.mean([one["mean"] for one in each]))
    of_colour = profiled(client, "numbers", inputs=["colour"], rows=rows)
    assert of_colour.band is not None


def test_a_row_with_missing_values_counts_as_64(client: TestClient) -> None:
    body: Json = {"inputs": ["x"], "points": 40, "rows": [*ROWS, *[{"x": 1.2, "colour": None}] * 10]}
    refused = client.post("/v1/models/numbers/versions/1/profile", json=body)
    assert refused.status_code == 422
    assert "one of 10 rows with missing values counts as 64" in refused.json()["detail"]


def test_a_fault_has_the_number_of_the_row_as_it_was_sent(client: TestClient) -> None:
    rows = [ROWS[0], {"x": 1.0, "colour": "green"}]
    refused = client.post("/v1/models/numbers/versions/1/profile", json={"inputs": ["x"], "points": 2, "rows": rows})
    assert refused.status_code == 422
    assert [one["row"] for one in refused.json()["errors"]] == [1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({}, 422),
        ({"inputs": [], "rows": ROWS}, 422),
        ({"inputs": ["z"], "rows": ROWS}, 422),
        ({"inputs": ["x", "x"], "rows": ROWS}, 422),
        ({"inputs": ["x", "colour", "x"], "rows": ROWS}, 422),
        ({"inputs": ["x"], "points": 1, "rows": ROWS}, 422),
        ({"inputs": ["x"], "points": 102, "rows": ROWS}, 422),
        ({"inputs": ["x"], "individual": 101, "rows": ROWS}, 422),
        ({"inputs": ["x", "colour"], "individual": 1, "rows": ROWS}, 422),
        ({"inputs": ["x"], "interval": 1, "rows": ROWS}, 422),
        ({"inputs": ["x"], "unknown": 1, "rows": ROWS}, 422),
        ({"inputs": ["x"], "rows": []}, 422),
        ({"inputs": ["x"], "rows": [{"x": 1.0}]}, 422),
        ({"inputs": ["x"], "rows": [{"x": None, "colour": "red"}, *ROWS], "points": 3}, 200),
        ({"inputs": ["x"], "rows": [{"x": None, "colour": "red"}], "points": 3}, 422),
        ({"inputs": ["x"], "rows": [{"x": 1.0, "colour": "green"}]}, 422),
        ({"inputs": ["x"], "points": 41, "rows": ROWS * 167}, 413),
        ({"inputs": ["x"], "points": 101, "rows": ROWS * 166}, 422),
        ({"inputs": ["x"], "rows": ROWS * 166}, 200),
        ({"inputs": ["x", "colour"], "rows": ROWS * 166}, 200),
        ({"inputs": ["x"]}, 422),
    ],
)
def test_requests_have_bounds(client: TestClient, members: Json, status: int) -> None:
    assert client.post("/v1/models/numbers/versions/1/profile", json=members).status_code == status
