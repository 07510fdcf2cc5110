"""Predictions by row ids, outcomes by the same, and what they show, on both databases."""

import numpy as np
import pytest
from scipy import stats

from app.http.openapi import Json
from tests.outcomes.conftest import Service

ROW: dict[str, Json] = {"x": 1.0, "colour": "blue"}
NUMBERS: dict[str, Json] = {"x": 1.0, "a": 0.5, "b": -1.0}


def test_outcomes_are_compared_with_predictions_by_the_row_ids_of_both(service: Service) -> None:
    (first, second) = service.predict("small", [ROW, {"x": 2.0, "colour": "red"}], ["a", "b"])
    inside, outside = first["mean"] + 0.1 * first["sd"], second["mean"] - 3.0 * second["sd"]
    received = service.send("small", {"a": inside, "b": outside, "c": 1.0})
    assert received == {"recorded": 2, "repeated": 0, "conflicting": 0, "unknown": 1, "unknown_ids": ["c"]}
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert (bucket["version"], bucket["outcomes"], bucket["excluded"]) == (1, 2, 0)
    assert bucket["coverage"] == [{"percent": level, "coverage": 0.5} for level in (50, 80, 95)]
    normal = [stats.norm(one["mean"], one["sd"]) for one in (first, second)]
    assert bucket["log_score"] == pytest.approx(np.mean([normal[0].logpdf(inside), normal[1].logpdf(outside)]))
    assert bucket["expected_log_score"] == pytest.approx(-np.mean([one.entropy() for one in normal]), rel=1e-4)
    assert (bucket["accuracy"], bucket["confidence"]) == (None, None)


def test_outcomes_of_rows_with_missing_values_are_compared_with_their_mixture(service: Service) -> None:
    found = service.predict("small", [{"x": 1.0, "colour": None}] * 2, ["a", "b"])
    known = service.predict("small", [ROW, {**ROW, "colour": "red"}], ["c", "d"])
    assert found[0]["sd"] > max(one["sd"] for one in known)
    assert service.send("small", {"a": found[0]["upper"] - 1e-6, "b": found[1]["upper"] + 1e-6})["recorded"] == 2
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert (bucket["outcomes"], bucket["excluded"]) == (2, 0)
    inside = {50: 0.0, 80: 0.0, 95: 0.5}
    assert bucket["coverage"] == [{"percent": level, "coverage": share} for level, share in inside.items()]
    assert isinstance(bucket["log_score"], float)


def test_outcomes_of_classes_have_accuracy_and_log_score(service: Service) -> None:
    rows: list[dict[str, Json]] = [{"x": float(x), "colour": "red"} for x in range(4)]
    ids = [*"abcd"]
    found = service.client.post("/v1/models/states/predict", json={"rows": rows, "row_ids": ids}).json()["predictions"]
    service.parts.recorder.flush()
    truth = ["gas", "liquid", "solid", "gas"]
    service.send("states", dict(zip(ids, truth, strict=True)))
    (bucket,) = service.items("/v1/models/states/outcomes?bucket=hour")
    of_truth = [
        next(one["probability"] for one in row["probabilities"] if one["label"] == label)
        for row, label in zip(found, truth, strict=True)
    ]
    assert bucket["log_score"] == pytest.approx(np.mean(np.log(of_truth)))
    assert bucket["accuracy"] == np.mean([row["label"] == label for row, label in zip(found, truth, strict=True)])
    highest = [max(one["probability"] for one in row["probabilities"]) for row in found]
    assert bucket["confidence"] == pytest.approx(np.mean(highest))
    assert bucket["coverage"] == []


def test_a_class_that_the_version_does_not_know_is_excluded_by_its_prediction(service: Service) -> None:
    service.predict("states", [ROW], ["a"], outputs=["label"])
    assert service.send("states", {"a": "plasma"})["recorded"] == 1
    (bucket,) = service.items("/v1/models/states/outcomes")
    assert (bucket["outcomes"], bucket["excluded"], bucket["log_score"], bucket["accuracy"]) == (1, 1, None, 0.0)


def test_the_same_outcome_again_is_one_and_another_value_is_a_conflict(service: Service) -> None:
    service.predict("small", [ROW, ROW], ["a", "b"])
    assert service.send("small", {"a": 9.0})["recorded"] == 1
    assert service.send("small", {"a": 9})["repeated"] == 1
    both = service.send("small", {"a": 9.5, "b": 9.0})
    assert (both["recorded"], both["repeated"], both["conflicting"]) == (1, 0, 1)
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert bucket["outcomes"] == 2


def test_a_row_that_is_predicted_twice_by_one_version_counts_once(service: Service) -> None:
    for _ in range(2):
        service.predict("small", [ROW], ["a"])
    assert service.send("small", {"a": 9.0})["recorded"] == 1
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert bucket["outcomes"] == 1


def test_outcomes_of_many_rows_are_scored_some_at_a_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.outcomes.service.ROWS_AT_ONCE", 4)
    ids = [f"row-{number}" for number in range(11)]
    (one, *_) = service.predict("small", [ROW] * 11, ids)
    outcomes = {row_id: one["mean"] + 0.1 * number for number, row_id in enumerate(ids)}
    assert service.send("small", outcomes)["recorded"] == 11
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert bucket["outcomes"] == 11
    expected = stats.norm(one["mean"], one["sd"]).logpdf([*outcomes.values()])
    assert bucket["log_score"] == pytest.approx(expected.mean())


def test_fast_rows_of_numbers_and_rows_with_a_noise_of_their_own_are_recorded(service: Service) -> None:
    found = service.predict("numbers", [NUMBERS], ["a"])
    assert service.send("numbers", {"a": found[0]["mean"]})["recorded"] == 1
    red: dict[str, Json] = {"x": 1.0, "colour": "red"}
    quiet, loud = {**red, "sd": 0.01}, {**red, "sd": 5.0}
    given = service.predict("measured", [quiet, loud], ["quiet", "loud"])
    usual = service.predict("measured", [red], ["usual"])
    assert given[0]["sd"] < usual[0]["sd"] < given[1]["sd"]
    expected = [stats.norm(one["mean"], one["sd"]).logpdf(one["mean"]) for one in (*given, *usual)]
    sent = service.send("measured", dict.fromkeys(("quiet", "loud", "usual"), given[0]["mean"]))
    assert sent["recorded"] == 3
    (bucket,) = service.items("/v1/models/measured/outcomes")
    assert bucket["log_score"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("outcomes", "pointer"),
    [({"a": "many"}, "/outcomes/0"), ({"a": True}, "/outcomes/0")],
)
def test_a_value_that_the_target_cant_have_is_refused(
    service: Service, outcomes: dict[str, Json], pointer: str
) -> None:
    service.predict("small", [ROW], ["a"])
    body = {"row_ids": [*outcomes], "outcomes": [*outcomes.values()]}
    refused = service.client.post("/v1/models/small/outcomes", json=body)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
    assert service.send("small", {"a": 1.0})["recorded"] == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"row_ids": ["a"], "outcomes": []}, "/outcomes"),
        ({"row_ids": ["a", "a"], "outcomes": [1, 1]}, "/row_ids"),
        ({"row_ids": [], "outcomes": []}, "/row_ids"),
        ({"row_ids": [""], "outcomes": [1]}, "/row_ids/0"),
        ({"row_ids": ["a"], "outcomes": [None]}, "/outcomes/0"),
        ({"row_ids": ["a"], "outcomes": [1], "other": 1}, "/other"),
    ],
)
def test_a_body_without_an_outcome_for_each_row_is_refused(
    service: Service, body: dict[str, Json], pointer: str
) -> None:
    refused = service.client.post("/v1/models/small/outcomes", json=body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == pointer


def test_of_an_unknown_model_there_are_no_outcomes_and_no_alarms(service: Service) -> None:
    sent = service.client.post("/v1/models/none/outcomes", json={"row_ids": ["a"], "outcomes": [1]})
    assert sent.status_code == 404
    for path in ("none/outcomes", "none/alarms", "small/outcomes?version=9"):
        assert service.client.get(f"/v1/models/{path}").status_code == 404


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("ids", "pointer"),
    [(["a"], "/row_ids"), (["a", ""], "/row_ids/1"), (["a", "b" * 201], "/row_ids/1"), ([1, 2], "/row_ids")],
)
@pytest.mark.parametrize(("model", "row"), [("small", ROW), ("numbers", NUMBERS)])
def test_row_ids_are_one_text_for_each_row(
    service: Service, model: str, row: dict[str, Json], ids: list[Json], pointer: str
) -> None:
    refused = service.client.post(f"/v1/models/{model}/predict", json={"rows": [row, row], "row_ids": ids})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["pointer"].startswith(pointer)


def test_row_ids_are_a_column_of_the_table_where_their_name_is_given(service: Service) -> None:
    body = {"rows": [{**ROW, "order": "a"}, {**ROW, "order": None}], "row_ids": "order"}
    assert service.client.post("/v1/models/small/predict", json=body).status_code == 200
    table = b"order,x,colour\nb,1,blue\n007,2,red\n"
    csv = service.client.post(
        "/v1/models/small/predict?row_ids=order", content=table, headers={"Content-Type": "text/csv"}
    )
    assert csv.status_code == 200, csv.text
    lines = b'{"order": "c", "x": 1, "colour": "blue"}\n{"order": "d", "x": 2, "colour": "red"}\n'
    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}
    streamed = service.client.post("/v1/models/small/predict?row_ids=order", content=lines, headers=headers)
    assert len(streamed.text.splitlines()) == 2
    service.parts.recorder.flush()
    received = service.send("small", dict.fromkeys(["a", "b", "007", "c", "d"], 9.0))
    assert (received["recorded"], received["unknown"]) == (5, 0)
    (bucket,) = service.items("/v1/models/small/outcomes")
    assert bucket["outcomes"] == 5


def test_the_column_of_the_row_ids_is_none_that_the_model_reads(service: Service) -> None:
    refused = service.client.post("/v1/models/small/predict", json={"rows": [ROW], "row_ids": "colour"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/row_ids")
    missing = service.client.post("/v1/models/small/predict", json={"rows": [ROW], "row_ids": "order"})
    assert missing.status_code == 422


def test_row_ids_are_an_input_of_texts_in_the_open_inference_protocol(service: Service) -> None:
    tensors: list[Json] = [
        {"name": "x", "datatype": "FP64", "shape": [2], "data": [1.0, 2.0]},
        {"name": "colour", "datatype": "BYTES", "shape": [2], "data": ["red", "blue"]},
        {"name": "order", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]},
    ]
    body = {"inputs": tensors, "parameters": {"row_ids": "order"}}
    inferred = service.client.post("/v2/models/small/infer", json=body)
    assert inferred.status_code == 200, inferred.text
    service.parts.recorder.flush()
    assert service.send("small", {"a": 9.0, "b": 9.0})["recorded"] == 2
    for wrong in ("none", "x", 3):
        refused = service.client.post("/v2/models/small/infer", json={**body, "parameters": {"row_ids": wrong}})
        assert refused.status_code == 400, refused.text


def test_a_row_with_a_fault_is_not_recorded(service: Service) -> None:
    rows: list[dict[str, Json]] = [ROW, {"x": "much", "colour": "red"}]
    service.predict("small", rows, ["a", "b"], on_error="per_row")
    assert service.send("small", {"a": 9.0, "b": 9.0})["unknown_ids"] == ["b"]


def test_only_a_model_that_records_has_outcomes(service: Service) -> None:
    service.client.patch("/v1/models/small", json={"record": None, "description": "No more."})
    assert service.client.get("/v1/models/small").json()["record"] == 0.0
    service.predict("small", [ROW], ["a"])
    assert service.send("small", {"a": 9.0})["unknown"] == 1
    service.client.patch("/v1/models/small", json={"description": "Kept."})
    refused = service.client.patch("/v1/models/small", json={"record": 1.5})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/record")


def test_each_version_has_the_outcome_of_a_row_that_it_predicted_for(service: Service) -> None:
    document = service.client.get("/v1/models/small/versions/1/export?format=json").content
    added = service.client.post(
        "/v1/models/small/versions", content=document, headers={"Content-Type": "application/json"}
    )
    assert added.json()["version"] == 2, added.text
    for version in (1, 2):
        path = f"/v1/models/small/versions/{version}/predict"
        assert service.client.post(path, json={"rows": [ROW], "row_ids": ["a"]}).status_code == 200
    service.parts.recorder.flush()
    assert service.send("small", {"a": 9.0})["recorded"] == 1
    page = service.client.get("/v1/models/small/outcomes?limit=1").json()
    rest = service.client.get(f"/v1/models/small/outcomes?limit=1&after={page['after']}").json()
    assert sorted(one["version"] for one in page["items"] + rest["items"]) == [1, 2]
    assert rest["has_more"] is False
    assert [one["version"] for one in service.items("/v1/models/small/outcomes?version=2")] == [2]
    assert service.client.delete("/v1/models/small/versions/2").status_code == 204
    assert [one["version"] for one in service.items("/v1/models/small/outcomes")] == [1]


def test_departures_of_coverage_and_log_score_raise_one_alarm_each(service: Service) -> None:
    ids = [f"row-{number}" for number in range(200)]
    (one, *_) = service.predict("small", [ROW] * 200, ids)
    service.send("small", dict.fromkeys(ids[:50], one["mean"] + 3.0 * one["sd"]))
    alarms = service.items("/v1/models/small/alarms")
    assert {(alarm["statistic"], alarm["direction"]) for alarm in alarms} == {
        ("coverage", "lower"),
        ("log_score", "lower"),
    }
    coverage = next(alarm for alarm in alarms if alarm["statistic"] == "coverage")
    assert (coverage["observed"], coverage["cleared_at"]) == (0.0, None)
    assert coverage["expected"] == pytest.approx(0.95)
    service.send("small", dict.fromkeys(ids[50:], one["mean"] + 3.0 * one["sd"]))
    assert len(service.items("/v1/models/small/alarms")) == 2
    metrics = service.client.get("/metrics").text
    assert 'relevance_model_alarms{model="small",owner="local",statistic="coverage"} 1.0' in metrics
    assert 'relevance_outcome_coverage{level="95",model="small",owner="local"} 0.0' in metrics
