"""Predictions over HTTP: the three forms of a table, the options, and every bad row."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from httpx2 import Response
from pytest import approx  # noqa: PT013
from starlette.testclient import TestClient
from starlette.types import Receive

from app.identity import BUILT_IN_OWNER as OWNER
from app.prediction import PredictRequest, ServedVersion, json_codec, predict
from app.prediction import runner as under_test
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import AnsweredRows
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised import prediction as supervised
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from tests.applications import SmallParts
from tests.problems import assert_problem
from tests.served_versions import served
from tests.small_models import small_version, version_of_known_noise, version_of_three_classes
from tests.small_tables import numbers, texts
from tests.tasks.supervised.test_one_row import NAMES, version_of_numbers

PATH = "/v1/models/small/predict"
ROWS = [{"x": 0.5, "colour": "red"}, {"x": 1, "colour": "blue"}, {"x": 3, "colour": "red"}]
FORMS = [
    {"rows": ROWS},
    {"rows": [{"colour": row["colour"], "x": row["x"]} for row in ROWS]},
    {"columns": {"colour": ["red", "blue", "red"], "x": [0.5, 1, 3]}},
    {"names": ["colour", "x"], "rows": [["red", 0.5], ["blue", 1], ["red", 3]]},
]
Errors = Sequence[Mapping[str, str | int]]


def prediction_of(prediction: ServedVersions, interval: float) -> RegressionPrediction:
    block: Block = {"x": numbers(0.5, 1.0, 3.0), "colour": texts("red", "blue", "red")}
    found = predict(prediction.version(OWNER, "small"), PredictRequest(block, PredictOptions(interval)))
    assert isinstance(found, RegressionPrediction)
    return found


@pytest.mark.parametrize("path", [PATH, "/v1/models/small/versions/1/predict"])
@pytest.mark.parametrize("table", FORMS)
def test_each_form_of_a_table_gets_the_services_response(
    client: TestClient, parts: SmallParts, path: str, table: dict[str, object]
) -> None:
    response = client.post(path, json=table)
    expected = prediction_of(parts.prediction, 0.95)
    assert response.headers["Content-Type"] == "application/json"
    assert response.json() == {
        "model": "small",
        "version": 1,
        "predictions": [
            {
                "mean": expected.mean[row],
                "sd": expected.sd[row],
                "variance": {
                    "total": expected.total[row],
                    "noise": expected.noise[row],
                    "weights": expected.weights[row],
                    "residual": expected.residual[row],
                },
                "lower": expected.lower[row],
                "upper": expected.upper[row],
                "support": None,
            }
            for row in range(3)
        ],
    }


def test_a_large_body_gets_the_same_response_in_a_thread(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    inline = client.post(PATH, json={"rows": ROWS})
    monkeypatch.setattr(under_test, "MAX_INLINE_BYTES", 10)
    monkeypatch.setattr(under_test, "MAX_QUICK_BYTES", 10)
    assert client.post(PATH, json={"rows": ROWS}).content == inline.content


def test_a_long_response_in_pieces_is_the_same_json(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (
        {"rows": ROWS},
        {"rows": ROWS, "explain": 2, "outputs": ["sd", "support"]},
        {"rows": [ROWS[0], {"x": None, "colour": "red"}, ROWS[2]], "on_error": "per_row"},
    ):
        for model in ("small", "classes"):
            if model == "classes" and "outputs" in body:
                continue
            path = f"/v1/models/{model}/predict"
            full = client.post(path, json=body)
            assert full.status_code == 200
            with monkeypatch.context() as patched:
                patched.setattr(json_codec, "ROWS_AT_ONCE", 2)
                pieces = client.post(path, json=body)
            assert pieces.content == full.content
            assert pieces.headers["Content-Length"] == str(len(full.content))


def test_a_body_in_many_messages_is_read_whole(client: TestClient) -> None:
    body = json.dumps({"rows": ROWS}).encode()
    parts = (body[place : place + 7] for place in range(0, len(body), 7))
    response = client.post(PATH, content=parts, headers={"Content-Type": "application/json"})
    assert response.content == client.post(PATH, json={"rows": ROWS}).content


def test_the_interval_is_as_wide_as_requested(client: TestClient, parts: SmallParts) -> None:
    expected = prediction_of(parts.prediction, 0.5)
    predictions = client.post(PATH, json={"rows": ROWS, "interval": 0.5}).json()["predictions"]
    assert [row["lower"] for row in predictions] == expected.lower.tolist()
    assert [row["upper"] for row in predictions] == expected.upper.tolist()


@pytest.mark.parametrize(
    ("outputs", "members"),
    [
        (["mean"], ["mean"]),
        (["interval", "mean"], ["lower", "upper", "mean"]),
        (["sd", "variance"], ["sd", "variance"]),
        (["mean", "mean"], ["mean"]),
        (["support"], ["support"]),
    ],
)
def test_only_requested_outputs_are_returned(client: TestClient, outputs: list[str], members: list[str]) -> None:
    full = client.post(PATH, json={"rows": ROWS}).json()["predictions"]
    part = client.post(PATH, json={"rows": ROWS, "outputs": outputs}).json()["predictions"]
    assert [list(row) for row in part] == [members] * 3
    assert part == [{member: row[member] for member in members} for row in full]


@pytest.mark.parametrize("classes", [(False, True), (0, 1), ("no", "yes")])
def test_classes_come_with_their_probabilities_and_their_json_type(
    client: TestClient, parts: SmallParts, classes: tuple[str | bool | int, str | bool | int]
) -> None:
    parts.stored.put_version(OWNER, small_version("classification", name="labels", classes=classes), number=1)
    predictions = client.post("/v1/models/labels/predict", json={"rows": ROWS}).json()["predictions"]
    for row in predictions:
        assert list(row) == ["label", "probabilities", "latent", "support"]
        assert list(row["latent"]) == ["mean", "variance"]
        negative, positive = row["probabilities"]
        assert [negative["label"], positive["label"]] == list(classes)
        assert negative["probability"] + positive["probability"] == approx(1.0)
        likelier = max(row["probabilities"], key=lambda one: one["probability"])
        assert row["label"] == likelier["label"]
        assert type(row["label"]) is type(classes[0])
    labels = client.post("/v1/models/labels/predict", json={"rows": ROWS, "outputs": ["label"]}).json()
    assert labels["predictions"] == [{"label": row["label"]} for row in predictions]


@pytest.mark.parametrize("classes", [("gas", "liquid", "solid"), (1, 2, 7)], ids=["texts", "numbers"])
def test_three_classes_come_with_a_latent_each_in_their_order(
    client: TestClient, parts: SmallParts, classes: tuple[str | int, str | int, str | int]
) -> None:
    parts.stored.put_version(OWNER, version_of_three_classes(classes=classes), number=1)
    predictions = client.post("/v1/models/states/predict", json={"rows": ROWS, "explain": 3}).json()["predictions"]
    for row in predictions:
        assert list(row) == ["label", "probabilities", "latent", "support", "explanation", "explanation_sum"]
        assert [one["label"] for one in row["probabilities"]] == [one["label"] for one in row["latent"]] == [*classes]
        assert sum(one["probability"] for one in row["probabilities"]) == approx(1.0)
        likeliest = max(row["probabilities"], key=lambda one: one["probability"])
        assert (row["label"], type(row["label"])) == (likeliest["label"], type(classes[0]))
        assert [list(one) for one in row["latent"]] == [["label", "mean", "variance"]] * 3
        assert len({one["variance"] for one in row["latent"]}) == 1
        (explained,) = (one["mean"] for one in row["latent"] if one["label"] == row["label"])
        assert sum(one["contribution"] for one in row["explanation"]) == approx(explained)
        assert row["explanation_sum"] == {"baseline": 0.0, "others": approx(0.0), "mean": approx(explained)}
    requested_parts = client.post("/v1/models/states/predict", json={"rows": ROWS, "outputs": ["latent"]}).json()
    assert requested_parts["predictions"] == [{"latent": row["latent"]} for row in predictions]


def test_rows_of_the_training_table_may_be_sent_as_they_are(client: TestClient) -> None:
    sent = client.post(PATH, json={"rows": [{**row, "y": 3.0} for row in ROWS]})
    assert sent.json() == client.post(PATH, json={"rows": ROWS}).json()


def test_the_order_of_the_rows_is_kept(client: TestClient) -> None:
    forth = client.post(PATH, json={"rows": ROWS}).json()["predictions"]
    back = client.post(PATH, json={"rows": ROWS[::-1]}).json()["predictions"]
    assert back == forth[::-1]


def test_a_bad_row_has_its_problem_in_its_place_when_requested(client: TestClient) -> None:
    rows = [ROWS[0], {"x": "much", "colour": "red"}, {"x": 1, "colour": "green"}, {"x": None, "colour": "red"}, ROWS[2]]
    options = {"on_error": "per_row", "unknown_categories": "error", "nulls": "error"}
    predictions = client.post(PATH, json={"rows": rows, **options}).json()["predictions"]
    sound = client.post(PATH, json={"rows": ROWS}).json()["predictions"]
    assert (predictions[0], predictions[4]) == (sound[0], sound[2])
    details = {
        1: ("x", '"much" is not a number.'),
        2: ("colour", "`colour` is 'green', which did not occur in training; known are 'blue', 'red'."),
        3: ("x", "`x` is missing."),
    }
    for row, (column, detail) in details.items():
        assert predictions[row] == {
            "error": {
                "type": "/problems/invalid-data",
                "title": "Invalid data",
                "status": 422,
                "detail": detail,
                "errors": [{"row": row, "column": column, "detail": detail}],
            }
        }


def test_a_row_with_a_missing_value_is_predicted_and_listed(client: TestClient) -> None:
    found = client.post(PATH, json={"rows": [*ROWS, {"x": None, "colour": "red"}]}).json()
    known = client.post(PATH, json={"rows": ROWS}).json()
    assert found["predictions"][:3] == known["predictions"]
    assert found["predictions"][3]["sd"] > known["predictions"][0]["sd"]
    assert found["nulls"] == [{"row": 3, "column": "x"}]
    assert "nulls" not in known


def test_a_row_of_the_wrong_shape_has_its_problem_in_its_place(client: TestClient) -> None:
    table = {"names": ["x", "colour"], "rows": [[0.5, "red"], [1], [3, "red"]], "on_error": "per_row"}
    predictions = client.post(PATH, json=table).json()["predictions"]
    sound = client.post(PATH, json={"rows": ROWS}).json()["predictions"]
    assert [predictions[0], predictions[2]] == [sound[0], sound[2]]
    assert predictions[1]["error"]["errors"][0]["row"] == 1


@pytest.mark.parametrize(
    ("table", "errors"),
    [
        ({"rows": []}, []),
        ({"columns": {"x": [], "colour": []}}, []),
        ({"rows": [*ROWS, {"x": 1}]}, [(3, "colour")]),
        ({"rows": [{**ROWS[0], "size": 3}]}, [(0, "size")]),
        ({"rows": [{"x": "1", "colour": "red"}]}, [(0, "x")]),
        ({"rows": [{"x": True, "colour": "red"}]}, [(0, "x")]),
        ({"rows": [{"x": None, "colour": "red"}], "nulls": "error"}, [(0, "x")]),
        ({"rows": [{"x": 1, "colour": "green"}], "unknown_categories": "error"}, [(0, "colour")]),
        ({"rows": [{"x": 1e300, "colour": "red"}]}, [(0, "x")]),
        ({"rows": [{"x": 10**400, "colour": "red"}]}, [(0, "x")]),
        ({"columns": {"x": [1]}}, [(None, "colour")]),
        ({"columns": {"x": [1], "colour": ["red"], "size": [3]}}, [(None, "size")]),
        ({"columns": {"x": [1, 2], "colour": ["red"]}}, [(None, "colour")]),
        ({"names": ["x", "x"], "rows": [[1, 2]]}, [(None, "x")]),
        ({"names": ["x", "colour"], "rows": [[1, "red", 3]]}, [(0, None)]),
        ({"rows": [[1, "red"]]}, [(0, None)]),
    ],
)
def test_rows_that_can_not_be_used_state_which_and_why(
    client: TestClient, table: dict[str, object], errors: list[tuple[int | None, str | None]]
) -> None:
    response = client.post(PATH, json=table)
    problem = response.json()
    assert_problem(response, "invalid-data", problem["detail"], problem["errors"])
    assert [(error.get("row"), error.get("column")) for error in problem["errors"]] == errors
    assert all(error["detail"] for error in problem["errors"])


def test_a_category_unseen_in_training_is_named_with_the_known_ones(client: TestClient) -> None:
    detail = "`colour` is 'green', which did not occur in training; known are 'blue', 'red'."
    response = client.post(PATH, json={"rows": [{"x": 1, "colour": "green"}], "unknown_categories": "error"})
    assert_problem(
        response,
        "invalid-data",
        response.json()["detail"],
        [{"row": 0, "column": "colour", "detail": detail}],
    )
    assert "'green'" in response.json()["detail"]


@pytest.mark.parametrize(
    ("options", "pointer", "detail"),
    [
        ({"interval": 1}, "/interval", "Should be less than 1, got 1."),
        ({"interval": 0}, "/interval", "Should be greater than 0, got 0."),
        ({"interval": "0.9"}, "/interval", 'Should be a valid number, got "0.9".'),
        ({"outputs": []}, "/outputs", "Expected at least 1, got 0."),
        ({"on_error": "skip"}, "/on_error", "Should be 'fail' or 'per_row', got \"skip\"."),
        ({"explain": 0}, "/explain", "Should be greater than or equal to 1, got 0."),
        ({"explain": 21}, "/explain", "Should be less than or equal to 20, got 21."),
        ({"covariance": 1}, "/covariance", "Should be a valid boolean, got 1."),
    ],
)
def test_an_option_that_makes_no_sense_is_named(
    client: TestClient, options: dict[str, object], pointer: str, detail: str
) -> None:
    assert_problem(
        client.post(PATH, json={"rows": ROWS, **options}),
        "invalid-request",
        f"At {pointer}: {detail}",
        [{"pointer": pointer, "detail": detail}],
    )


@pytest.mark.parametrize(
    ("options", "pointer"),
    [({"interval": 1.5}, "/interval"), ({"outputs": []}, "/outputs"), ({"outputs": ["label"]}, "/outputs/0")],
)
def test_an_option_that_makes_no_sense_is_named_for_rows_of_numbers_too(
    client: TestClient, parts: SmallParts, options: dict[str, object], pointer: str
) -> None:
    parts.catalogue.delete_model(OWNER, "small")
    parts.stored.put_version(OWNER, version_of_numbers(GaussianProcess()), number=2)
    row = dict.fromkeys(NAMES, 0.5)
    response = client.post("/v1/models/small/versions/2/predict", json={"rows": [row], **options})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_an_output_of_the_other_task_is_refused(client: TestClient) -> None:
    assert_problem(
        client.post(PATH, json={"rows": ROWS, "outputs": ["mean", "label"]}),
        "invalid-request",
        "This model's predictions don't have such an output.",
        [{"pointer": "/outputs/1", "detail": "A model of regression answers mean, sd, variance, interval, support."}],
    )


def test_a_misspelt_option_is_named(client: TestClient) -> None:
    response = client.post(PATH, json={"rows": ROWS, "intervall": 0.9})
    problem = response.json()
    assert response.status_code == 422
    assert [error["pointer"] for error in problem["errors"]] == ["/intervall"]


def test_more_rows_than_allowed_are_413(client: TestClient) -> None:
    rows = [ROWS[0]] * 6
    assert_problem(
        client.post(PATH, json={"rows": rows}), "too-large", "Expected at most 5 rows, got 6; split the request."
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 422),
        (b'{"rows": [{"x": NaN, "colour": "red"}]}', 422),
        (b'{"rows": [{"x": Infinity, "colour": "red"}]}', 422),
        (b'{"rows": [{"x": 1e999, "colour": "red"}]}', 422),
        (b'{"rows": [{"x": 1, "x": 2, "colour": "red"}]}', 400),
        (b'{"rows": [{"x": 1, "colour": "red"}], "rows": []}', 400),
        (b"[" * 1500 + b"]" * 1500, 400),
        (b'{"rows": [{"x": 1, "colour": "red"}], "costs": ' + b"[" * 250 + b"]" * 250 + b"}", 400),
        (b'{"rows": [{"x": 1, "colour": "\xff"}]}', 400),
    ],
)
def test_a_body_that_is_no_table_is_refused(client: TestClient, body: bytes, status: int) -> None:
    response = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
    problem = response.json()
    slug = "malformed-body" if status == 400 else "invalid-data"
    assert_problem(response, slug, problem["detail"], problem["errors"])


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/models/nobody/predict", "There is no model 'nobody'."),
        ("/v1/models/small/versions/7/predict", "Model 'small' has no version 7."),
        ("/v1/models/small/versions/00000000019/predict", "There is no version '00000000019' of model 'small'."),
    ],
)
def test_a_model_that_is_not_there_is_404(client: TestClient, path: str, detail: str) -> None:
    assert_problem(client.post(path, json={"rows": ROWS}), "not-found", detail)


def test_predictions_go_on_while_the_version_is_at_hand(client: TestClient, parts: SmallParts) -> None:
    first = client.post(PATH, json={"rows": ROWS})
    opened = parts.stored.opened
    assert client.post(PATH, json={"rows": ROWS}).content == first.content
    assert parts.stored.opened == opened


@pytest.fixture
def process(parts: SmallParts) -> None:
    """The models `process` and `states`, which know how far they reach."""
    for task, name in (("regression", "process"), ("classification", "states")):
        made = small_version("regression" if task == "regression" else "classification", name=name, prior=PROCESS)
        parts.stored.put_version(OWNER, made, number=1)


PROCESS = GaussianProcess()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", ["process", "states"])
def test_far_from_the_data_the_support_is_nothing(client: TestClient, name: str) -> None:
    rows = [{"x": 1, "colour": "blue"}, {"x": 1e6, "colour": "blue"}]
    near, far = client.post(f"/v1/models/{name}/predict", json={"rows": rows}).json()["predictions"]
    assert near["support"] == approx(1.0, abs=1e-3)
    assert far["support"] == 0.0


def test_the_functions_that_add_most_are_named_as_in_the_versions_list(client: TestClient) -> None:
    listed = client.get("/v1/models/small/versions/1/relevance-vectors").json()["items"]
    places = {one["number"]: {member: one[member] for member in ("kind", "row", "input")} for one in listed}
    full = client.post(PATH, json={"rows": ROWS, "explain": 20}).json()["predictions"]
    for row in full:
        added = row["explanation"]
        assert sorted(one["vector"] for one in added) == sorted(places)
        assert [{member: one[member] for member in ("kind", "row", "input")} for one in added] == [
            places[one["vector"]] for one in added
        ]
        assert 10.0 + sum(one["contribution"] for one in added) == approx(row["mean"])
        assert row["explanation_sum"] == {"baseline": 10.0, "others": approx(0.0), "mean": approx(row["mean"])}
        assert sum(one["share"] for one in added) == approx(1.0)
        sizes = [abs(one["contribution"]) for one in added]
        assert sizes == sorted(sizes, reverse=True)
    best = client.post(PATH, json={"rows": ROWS, "explain": 1, "outputs": ["mean"]}).json()["predictions"]
    for row, reported in zip(full, best, strict=True):
        assert list(reported) == ["mean", "explanation", "explanation_sum"]
        assert (reported["mean"], reported["explanation"]) == (row["mean"], row["explanation"][:1])
        others = row["mean"] - 10.0 - reported["explanation"][0]["contribution"]
        assert reported["explanation_sum"] == {"baseline": 10.0, "others": approx(others), "mean": approx(row["mean"])}


def test_classes_are_explained_by_what_is_added_to_the_latent(client: TestClient) -> None:
    rows = client.post("/v1/models/classes/predict", json={"rows": ROWS, "explain": 3}).json()["predictions"]
    for row in rows:
        assert sum(one["contribution"] for one in row["explanation"]) == approx(row["latent"]["mean"])


def test_a_bad_row_has_its_problem_and_no_explanation(client: TestClient) -> None:
    rows = [ROWS[0], {"x": 1e300, "colour": "blue"}]
    body = {"rows": rows, "explain": 2, "on_error": "per_row", "covariance": True}
    predicted = client.post(PATH, json=body).json()
    assert list(predicted["predictions"][1]) == ["error"]
    assert predicted["covariance"][0][0] == approx(predicted["predictions"][0]["variance"]["total"])
    assert predicted["covariance"][0][1] is predicted["covariance"][1][0] is predicted["covariance"][1][1] is None


def test_the_covariance_of_all_responses_comes_when_it_is_requested(client: TestClient) -> None:
    plain, together = (
        client.post(PATH, json={"rows": ROWS, "covariance": requested}).json() for requested in (False, True)
    )
    covariance = together.pop("covariance")
    assert together == plain
    assert [len(row) for row in covariance] == [3, 3, 3]
    for place, row in enumerate(plain["predictions"]):
        assert covariance[place][place] == approx(row["variance"]["total"], rel=1e-9)
    assert covariance[0][1] == approx(covariance[1][0])
    assert covariance[0][1] != 0.0


def test_classes_have_no_covariance(client: TestClient) -> None:
    detail = "Classes have no covariance: request it from a model of numbers."
    assert_problem(
        client.post("/v1/models/classes/predict", json={"rows": ROWS, "covariance": True}),
        "invalid-request",
        detail,
        [{"pointer": "/covariance", "detail": detail}],
    )


def test_the_responses_covariance_has_a_bound_of_rows(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "MAX_ROWS_TOGETHER", 2)
    detail = "Expected at most 2 rows for a covariance, got 3."
    assert_problem(
        client.post(PATH, json={"rows": ROWS, "covariance": True}),
        "invalid-request",
        detail,
        [{"pointer": "/covariance", "detail": detail}],
    )


def test_the_documentation_states_what_is_returned(openapi: Response) -> None:
    schemas = openapi.json()["components"]["schemas"]
    assert (
        "Near 0, the point is far from all training rows" in schemas["RealOut"]["properties"]["support"]["description"]
    )
    assert schemas["ClassOut"]["properties"]["support"] == schemas["RealOut"]["properties"]["support"]
    assert set(schemas["Contribution"]["properties"]) == {"vector", "kind", "row", "input", "contribution", "share"}
    assert {"covariance", "explain"} <= set(schemas["PredictRecordsIn-Input"]["properties"])
    assert "covariance" in schemas["PredictionsOut"]["properties"]


MEASURED = "/v1/models/measured/predict"
WITH_NOISE = [{**row, "sd": sd} for row, sd in zip(ROWS, (0.2, 4, 1.0), strict=True)]


@pytest.fixture
def measured(parts: SmallParts) -> None:
    parts.stored.put_version(OWNER, version_of_known_noise(), number=1)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    "table",
    [
        {"rows": WITH_NOISE},
        {"columns": {"colour": ["red", "blue", "red"], "x": [0.5, 1, 3], "sd": [0.2, 4, 1.0]}},
        {"names": ["sd", "colour", "x"], "rows": [[0.2, "red", 0.5], [4, "blue", 1], [1.0, "red", 3]]},
    ],
)
def test_rows_may_bring_their_noise_where_the_model_knows_of_it(client: TestClient, table: dict[str, object]) -> None:
    rows = client.post(MEASURED, json=table).json()["predictions"]
    assert [row["variance"]["noise"] for row in rows] == approx([0.04, 16.0, 1.0])
    without = client.post(MEASURED, json={"rows": ROWS}).json()["predictions"]
    assert [row["variance"]["noise"] for row in without] == approx([0.04] * 3)
    assert [row["mean"] for row in without] == approx([row["mean"] for row in rows])


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("rows", "given"),
    [
        ([WITH_NOISE[0], {**ROWS[1], "sd": None}, WITH_NOISE[2]], "`sd` is missing: expected a value in each row"),
        ([WITH_NOISE[0], ROWS[1], WITH_NOISE[2]], "The column is missing"),
        ([WITH_NOISE[0], {**ROWS[1], "sd": 0}, WITH_NOISE[2]], "`sd` is 0,"),
        ([WITH_NOISE[0], {**ROWS[1], "sd": "much"}, WITH_NOISE[2]], '"much" is not a number'),
    ],
)
def test_noise_that_is_not_there_in_every_row_is_refused_with_the_row(
    client: TestClient, rows: list[dict[str, object]], given: str
) -> None:
    response = client.post(MEASURED, json={"rows": rows})
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert (error["row"], error["column"]) == (1, "sd")
    assert given in error["detail"]
    responses = client.post(MEASURED, json={"rows": rows, "on_error": "per_row"}).json()["predictions"]
    assert ["error" in one for one in responses] == [False, True, False]


def test_a_model_with_one_noise_for_all_rows_reads_none(client: TestClient) -> None:
    assert client.post(PATH, json={"rows": WITH_NOISE}).status_code == 422


def test_only_what_is_quick_gets_a_response_on_the_event_loop() -> None:
    made = small_version()
    many = replace(made, report=replace(made.report, functions=under_test.MAX_INLINE_FUNCTIONS + 1))
    small, large = b"{}", b" " * (under_test.MAX_INLINE_BYTES + 1)
    assert under_test.is_quick(served(made), small)
    assert not under_test.is_quick(served(made), large)
    assert not under_test.is_quick(served(made), b'{"covariance": true}')
    assert not under_test.is_quick(served(many), small)


@pytest.mark.parametrize(
    ("bounds", "others", "threads"),
    [
        ({}, {}, 0),
        ({"MAX_QUICK_ROWS": 3}, {}, 0),
        ({"MAX_QUICK_ROWS": 2}, {}, 1),
        ({"MAX_QUICK_BYTES": 10}, {}, 1),
        ({"MAX_QUICK_WORK": 10}, {}, 1),
        ({}, {"on_error": "fail"}, 1),
    ],
)
def test_rows_of_numbers_get_a_response_on_the_event_loop_up_to_a_larger_size(
    client: TestClient,
    parts: SmallParts,
    monkeypatch: pytest.MonkeyPatch,
    bounds: dict[str, int],
    others: dict[str, str],
    threads: int,
) -> None:
    parts.catalogue.delete_model(OWNER, "small")
    parts.stored.put_version(OWNER, version_of_numbers(Independent()), number=2)
    handed = 0
    run_for_client = under_test.PredictionRunner.run_for_client

    async def noted(
        self: under_test.PredictionRunner,
        receive: Receive | None,
        served: ServedVersion,
        codec: under_test.Codec[bytes],
        counted: AnsweredRows,
    ) -> object:
        nonlocal handed
        handed += 1
        return await run_for_client(self, receive, served, codec, counted)

    body = {"rows": [dict.fromkeys(NAMES, 0.25 * row) for row in range(3)], **others}
    path = "/v1/models/small/versions/2/predict"
    full = client.post(path, json=body)
    monkeypatch.setattr(under_test.PredictionRunner, "run_for_client", noted)
    for name, bound in ({"MAX_INLINE_BYTES": 10} | bounds).items():
        monkeypatch.setattr(json_codec if name == "MAX_QUICK_ROWS" else under_test, name, bound)
    reply = client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    assert reply.content == full.content
    assert handed == threads
