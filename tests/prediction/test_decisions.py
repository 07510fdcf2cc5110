"""Decisions over HTTP: priors, costs and a limit beside the table, and every error in them."""

from pathlib import Path

import pytest
from httpx2 import Response
from pytest import approx  # noqa: PT013
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER as OWNER
from relevance_bayes.records.values import Label
from tests.applications import SmallParts, filled_template
from tests.prediction.test_routes import FORMS, ROWS
from tests.problems import assert_problem
from tests.small_models import small_version, version_of_three_classes

PATH, STATES, REAL = "/v1/models/classes/predict", "/v1/models/states/predict", "/v1/models/small/predict"
PRIORS = [{"label": True, "prior": 0.02}, {"label": False, "prior": 0.98}]
COSTS = [[0, 1], [20, 0.5]]


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """The others beside a model of three classes."""

    def fill(parts: SmallParts) -> None:
        parts.stored.put_version(OWNER, version_of_three_classes(), number=1)

    return filled_template(parts_template, "decisions.db", fill)


@pytest.mark.parametrize("table", FORMS)
def test_a_decision_comes_with_each_row_of_each_form(client: TestClient, table: dict[str, object]) -> None:
    plain = client.post(PATH, json=table).json()["predictions"]
    reported = client.post(PATH, json={**table, "class_priors": PRIORS, "costs": COSTS, "reject_cost": 0.3}).json()
    for before, row in zip(plain, reported["predictions"], strict=True):
        assert list(row) == ["label", "probabilities", "latent", "support", "decision"]
        weights = [
            one["probability"] * new / old
            for one, new, old in zip(before["probabilities"], (0.98, 0.02), (0.75, 0.25), strict=True)
        ]
        negative, positive = (one["probability"] for one in row["probabilities"])
        assert [negative, positive] == approx([weight / sum(weights) for weight in weights])
        assert (row["label"], row["latent"]) == (positive >= negative, before["latent"])
        risks = [20 * positive, negative + 0.5 * positive]
        assert row["decision"]["expected_cost"] == approx(min(*risks, 0.3))
        expected = None if min(risks) > 0.3 else risks[1] <= risks[0]
        assert row["decision"]["label"] is expected


def test_a_row_is_left_undecided_where_every_decision_costs_too_much(client: TestClient) -> None:
    predictions = client.post(PATH, json={"rows": ROWS, "reject_cost": 0}).json()["predictions"]
    assert [row["decision"] for row in predictions] == [{"label": None, "expected_cost": 0.0}] * 3
    assert all(isinstance(row["label"], bool) for row in predictions)


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), (False, True)], ids=["numbers", "texts", "booleans"])
def test_decisions_have_the_labels_json_type(
    client: TestClient, parts: SmallParts, classes: tuple[Label, Label]
) -> None:
    parts.stored.put_version(OWNER, small_version("classification", name="typed", classes=classes), number=1)
    priors = [{"label": label, "prior": 0.5} for label in classes]
    reported = client.post("/v1/models/typed/predict", json={"rows": ROWS, "class_priors": priors}).json()[
        "predictions"
    ]
    for row in reported:
        assert row["decision"]["label"] == row["label"]
        assert type(row["decision"]["label"]) is type(classes[0])
        assert row["decision"]["expected_cost"] == approx(1 - max(one["probability"] for one in row["probabilities"]))


def test_three_classes_are_decided_between_by_a_row_of_costs_for_each_truth(client: TestClient) -> None:
    costs = [[0, 1, 5], [2, 0, 1], [9, 3, 0]]
    reported = client.post(STATES, json={"rows": ROWS, "costs": costs}).json()["predictions"]
    labels = ["gas", "liquid", "solid"]
    for row in reported:
        p = [one["probability"] for one in row["probabilities"]]
        risks = [sum(p[truth] * costs[truth][decision] for truth in range(3)) for decision in range(3)]
        assert row["decision"] == {"label": labels[risks.index(min(risks))], "expected_cost": approx(min(risks))}


def test_decisions_come_beside_whatever_outputs_are_requested(client: TestClient) -> None:
    requested = {"rows": ROWS, "outputs": ["label"], "explain": 1, "costs": COSTS}
    for row in client.post(PATH, json=requested).json()["predictions"]:
        assert list(row) == ["label", "explanation", "explanation_sum", "decision"]


def test_without_a_rule_nothing_is_decided(client: TestClient) -> None:
    plain = client.post(PATH, json={"rows": ROWS})
    given = client.post(PATH, json={"rows": ROWS, "class_priors": None, "costs": None, "reject_cost": None})
    assert given.content == plain.content
    assert b"decision" not in plain.content


def test_a_bad_row_has_its_problem_and_no_decision(client: TestClient) -> None:
    rows = [ROWS[0], {"x": 1e300, "colour": "red"}, ROWS[2]]
    requested = {"rows": rows, "on_error": "per_row", "class_priors": PRIORS, "reject_cost": 0.3}
    predictions = client.post(PATH, json=requested).json()["predictions"]
    assert list(predictions[1]) == ["error"]
    alone = client.post(PATH, json={**requested, "rows": [ROWS[0], ROWS[2]]}).json()["predictions"]
    assert [predictions[0], predictions[2]] == alone


@pytest.mark.parametrize(
    ("options", "pointer", "detail"),
    [
        (
            {"class_priors": [{"label": "yes", "prior": 1}]},
            "/class_priors/0/label",
            "There is no class 'yes'; the classes are false, true.",
        ),
        (
            {"class_priors": [{"label": 1, "prior": 0.5}, {"label": False, "prior": 0.5}]},
            "/class_priors/0/label",
            "There is no class 1; the classes are false, true.",
        ),
        (
            {"class_priors": [PRIORS[0], PRIORS[0]]},
            "/class_priors/1/label",
            "The class true has a prior already.",
        ),
        ({"class_priors": PRIORS[:1]}, "/class_priors", "Each class needs a prior; there is none for false."),
        (
            {"class_priors": [{"label": True, "prior": 0.5}, {"label": False, "prior": 0.4}]},
            "/class_priors",
            "The priors sum to 0.9; they should sum to 1.",
        ),
        (
            {"class_priors": [{"label": True, "prior": -0.1}, {"label": False, "prior": 1}]},
            "/class_priors/0/prior",
            "Should be greater than or equal to 0, got -0.1.",
        ),
        (
            {"class_priors": [{"label": True}, PRIORS[1]]},
            "/class_priors/0/prior",
            "This member is required.",
        ),
        (
            {"class_priors": [{**PRIORS[0], "cost": 1}, PRIORS[1]]},
            "/class_priors/0/cost",
            "The member 'cost' is unknown.",
        ),
        ({"class_priors": {"true": 1}}, "/class_priors", 'Should be a valid array, got {"true":1}.'),
        (
            {"costs": [[0, 1]]},
            "/costs",
            "Expected 2 rows, one for each true class in the order of `classes`, got 1.",
        ),
        (
            {"costs": [[0, 1], [1, 0, 2]]},
            "/costs/1",
            "Expected 2 costs, one for each class that may be decided for, got 3.",
        ),
        ({"costs": [[0, -1], [1, 0]]}, "/costs/0/1", "Should be greater than or equal to 0, got -1."),
        ({"costs": [[0, None], [1, 0]]}, "/costs/0/1", "Should be a valid number, got null."),
        ({"costs": []}, "/costs", "Expected at least 1, got 0."),
        ({"reject_cost": -1}, "/reject_cost", "Should be greater than or equal to 0, got -1."),
        ({"reject_cost": "0.5"}, "/reject_cost", 'Should be a valid number, got "0.5".'),
    ],
)
def test_a_rule_that_makes_no_sense_is_named(
    client: TestClient, options: dict[str, object], pointer: str, detail: str
) -> None:
    response = client.post(PATH, json={"rows": ROWS, **options})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")
    assert response.json()["errors"] == [{"pointer": pointer, "detail": detail}]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "1e999"])
@pytest.mark.parametrize(
    ("option", "pointer"),
    [
        ('"class_priors": [{"label": true, "prior": %s}]', "/class_priors/0/prior"),
        ('"costs": [[0, 1], [%s, 0]]', "/costs/1/0"),
        ('"reject_cost": %s', "/reject_cost"),
    ],
)
def test_what_is_no_number_is_refused_with_its_place(client: TestClient, token: str, option: str, pointer: str) -> None:
    body = '{"rows": [{"x": 1, "colour": "red"}], ' + option % token + "}"
    response = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_about_a_number_nothing_is_decided(client: TestClient) -> None:
    detail = "A number has no classes to decide between."
    assert_problem(
        client.post(REAL, json={"rows": ROWS, "class_priors": PRIORS, "reject_cost": 1}),
        "invalid-request",
        "Decisions are between classes, and this model predicts a number.",
        [{"pointer": "/class_priors", "detail": detail}, {"pointer": "/reject_cost", "detail": detail}],
    )


def test_the_documentation_states_what_is_decided_by(openapi: Response) -> None:
    schemas = openapi.json()["components"]["schemas"]
    for form in ("PredictRecordsIn-Input", "PredictColumnsIn-Input", "PredictArraysIn-Input"):
        options = schemas[form]["properties"]
        assert {"class_priors", "costs", "reject_cost"} <= set(options)
        assert "costs[truth][decision]" in options["costs"]["description"]
    assert set(schemas["ClassPrior-Input"]["properties"]) == {"label", "prior"}
    assert set(schemas["Decision"]["properties"]) == {"label", "expected_cost"}
    assert "decision" in schemas["ClassOut"]["properties"]
    assert "decision" not in schemas["RealOut"]["properties"]
