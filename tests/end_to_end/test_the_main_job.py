"""From a table to predictions, through real processes on both databases."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from app import services
from app.identity import BUILT_IN_OWNER as OWNER
from app.settings import Settings
from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json
from relevance_bayes.core.models.prediction import ClassPrediction, RealPrediction, predict
from relevance_bayes.records.jobs import Event as JobEvent
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from tests.end_to_end.deployment import Api
from tests.end_to_end.tables import sinc, sum_of_curves, two_moons
from tests.small_tables import numbers, texts

WIDTH: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}
PROCESS: Json = {"type": "gaussian_process"}
POINTS: Json = {"x": [-3.0, 0.25, 7.5]}
PLACES: Json = {"a": [0.0, 0.5, 1.0], "b": [1.0, 0.1, -0.5], "side": ["left", "right", "right"]}


@pytest.fixture
def moons(tmp_path: Path) -> Path:
    path = tmp_path / "moons.csv"
    path.write_text(two_moons(40), encoding="utf-8")
    return path


def assert_complete_and_in_order(events: list[JobEvent]) -> None:
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    reported = [event.progress for event in events if event.progress is not None]
    assert len(reported) >= 2
    assert reported[0].completed == 0
    assert reported[-1].completed == reported[-1].total
    assert events[-1].is_last


def test_numbers_go_in_and_distributions_come_out(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(40), name="sinc-main")
    job = api.train(dataset_id=dataset.id, target="y", holdout=0.2, seed=5)
    assert (job.version, job.error) == (VersionName("sinc-main", 1), None)
    assert [move.state for move in job.transitions] == ["queued", "running", "succeeded"]
    assert_complete_and_in_order(list(api.calls.trainings.follow(job.id)))
    version = api.calls.version("sinc-main", 1)
    assert (version.job_id, version.task, version.rows + version.rows_held_out) == (job.id, "regression", 40)
    audit = api.http.get("/v1/audit", params={"resource": "/v1/models/sinc-main/versions/1"}).json()["items"]
    assert [(entry["action"], entry["actor"]) for entry in audit] == [
        ("version.created", {"kind": "job", "id": job.id})
    ]
    assert 0 < version.rows_held_out < 20
    assert 0.03 < version.metrics["holdout"]["rmse"] < 0.3
    assert 1 <= version.functions <= 15
    vectors = list(api.calls.relevance_vectors("sinc-main", 1, sort="weight"))
    weights = [abs(vector.weight_mean or 0.0) for vector in vectors]
    assert (len(weights), weights) == (version.functions, sorted(weights, reverse=True))
    response = api.calls.predict("sinc-main", {"columns": {"x": [0.5, 3.0, 5.0]}})
    for x, row in zip((0.5, 3.0, 5.0), response.predictions, strict=True):
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        assert row.lower < row.mean < row.upper
        assert abs(row.mean - math.sin(x) / x) < 0.25


def test_a_process_knows_that_it_knows_nothing_far_from_the_data(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(60, seed=4), name="sinc-process")
    job = api.train(dataset_id=dataset.id, target="y", prior=PROCESS)
    assert job.algorithm == {"max_iterations": 15, "max_rows": None, "type": "greedy"}
    assert_complete_and_in_order(list(api.calls.trainings.follow(job.id)))
    found = api.calls.version("sinc-process", 1).hyperparameters
    assert [width.input for width in found.widths] == ["x"]
    assert [warp.input for warp in found.warps] == ["x"]
    assert found.noise_sd == pytest.approx(0.1, rel=0.4)
    assert found.signal_sd is not None
    assert found.next_gain is not None
    vectors = list(api.calls.relevance_vectors("sinc-process", 1))
    assert {vector.kind for vector in vectors} <= {"gaussian", "bias", "input"}
    for vector in vectors:
        assert (vector.row is not None) == (vector.inputs is not None) == (vector.kind == "gaussian")
        assert (vector.input == "x") == (vector.kind == "input")
    near, far = api.calls.predict("sinc-process", {"columns": {"x": [3.0, 1e9]}}).predictions
    for row in (near, far):
        assert row.variance is not None
        parts = row.variance
        assert parts.noise + parts.weights + parts.residual == pytest.approx(parts.total)
    assert near.mean is not None
    assert near.lower is not None
    assert near.upper is not None
    assert near.lower < near.mean < near.upper
    assert abs(near.mean - math.sin(3.0) / 3.0) < 0.15
    assert far.variance is not None
    assert far.variance.residual == pytest.approx(found.signal_sd**2 * 60 / 59)


def test_inputs_whose_effects_add_are_distinguished(api: Api) -> None:
    dataset = api.calls.create_dataset(sum_of_curves(120, seed=1), name="sum-main")
    requested: Json = {"type": "kernel", "additive": "evidence"}
    api.train(dataset_id=dataset.id, target="y", prior=PROCESS, basis=requested)
    found = api.calls.version("sum-main", 1).hyperparameters
    assert len(found.terms) == 1
    assert found.terms[0].input in {"a", "b"}
    assert 0.0 < found.terms[0].share < 1.0
    response = api.calls.predict("sum-main", {"columns": {"a": [0.5, -1.0], "b": [1.0, 0.2]}}, explain=2)
    for a, b, row in zip((0.5, -1.0), (1.0, 0.2), response.predictions, strict=True):
        assert row.mean is not None
        assert abs(row.mean - math.sin(3.0 * a) - b * b) < 0.2


def test_a_csv_of_two_classes_gets_probabilities(api: Api, moons: Path) -> None:
    dataset = api.calls.upload(moons, name="moons-main")
    job = api.train(dataset_id=dataset.id, target="moon")
    assert (job.task, job.classes) == ("classification", ("down", "up"))
    rows: Json = [{"a": 0.0, "b": 1.0, "side": "left"}, {"a": 1.0, "b": -0.5, "side": "right"}]
    responses = api.calls.predict("moons-main", {"rows": rows}).predictions
    assert [row.label for row in responses] == ["up", "down"]
    for row in responses:
        assert row.probabilities is not None
        assert sum(one.probability for one in row.probabilities) == pytest.approx(1.0)


def predictor_of(api: Api, name: str) -> SupervisedPredictor:
    """The stored version itself, by another road than HTTP."""
    parts = services.build(Settings(database_url=api.database_url))
    try:
        predicting = parts.prediction.version(OWNER, name).model
        assert isinstance(predicting, SupervisedModel)
        return predicting.predictor
    finally:
        parts.close()


@pytest.mark.parametrize("prior", ["independent", "gaussian_process"])
def test_numbers_are_the_cores_to_twelve_digits(api: Api, prior: str) -> None:
    name = f"sinc-{prior}"
    dataset = api.calls.create_dataset(sinc(40, seed=3), name=name)
    job = api.train(dataset_id=dataset.id, target="y", basis=WIDTH, prior={"type": prior})
    assert job.version is not None
    name = job.version.model
    responses = api.calls.predict(name, {"columns": POINTS}).predictions
    predictor = predictor_of(api, name)
    inputs, faults = encode_inputs(predictor.encoding, {"x": numbers(-3.0, 0.25, 7.5)})
    core = predict(predictor.model, inputs)
    assert isinstance(core, RealPrediction)
    assert not faults
    scale, shift = predictor.encoding.target.scale, predictor.encoding.target.shift
    assert_allclose(np.array([row.mean for row in responses], float), shift + scale * core.mean, rtol=1e-12)
    sd = scale * np.sqrt(core.variance)
    assert_allclose(np.array([row.sd for row in responses], float), sd, rtol=1e-12)


def test_probabilities_are_the_cores_to_twelve_digits(api: Api, moons: Path) -> None:
    dataset = api.calls.upload(moons, name="moons-exact")
    api.train(dataset_id=dataset.id, target="moon", basis=WIDTH)
    responses = api.calls.predict("moons-exact", {"columns": PLACES}).predictions
    predictor = predictor_of(api, "moons-exact")
    block: Block = {"a": numbers(0.0, 0.5, 1.0), "b": numbers(1.0, 0.1, -0.5), "side": texts("left", "right", "right")}
    inputs, _ = encode_inputs(predictor.encoding, block)
    core = predict(predictor.model, inputs)
    assert isinstance(core, ClassPrediction)
    found = [row.probabilities[1].probability for row in responses if row.probabilities is not None]
    assert_allclose(found, core.probability, rtol=1e-12)


def test_a_model_is_the_same_bytes_on_every_database(running: dict[str, Api]) -> None:
    """Sent in the same order: rows are held out and folded by what they are, never by where they are stored."""
    if len(running) < 2:
        pytest.skip("PostgreSQL is not installed")
    responses, learned = set(), set()
    for api in running.values():
        dataset = api.calls.create_dataset(sinc(30, seed=7), name="sinc-same")
        api.train(dataset_id=dataset.id, target="y", holdout=0.2, seed=11)
        responses.add(api.http.post("/v1/models/sinc-same/predict", json={"columns": POINTS}).content)
        version = api.calls.version("sinc-same", 1)
        learned.add((dataset.digest, version.evidence, version.functions, version.hyperparameters))
    assert len(responses) == 1
    assert len(learned) == 1


def test_a_failed_fit_states_what_to_do(api: Api) -> None:
    """The gaps are not where the statistics could show it: too few rows are left once they are dropped together."""
    columns: dict[str, list[Json]] = {
        "x": [1.0, None, 3.0, None, 5.0],
        "z": [None, 2.0, None, 4.0, 1.0],
        "y": [1.0, 2.0, 3.0, 5.0, 8.0],
    }
    dataset = api.calls.create_dataset(columns, name="gaps")
    request: dict[str, Json] = {"dataset_id": dataset.id, "target": "y", "inputs": ["x", "z"], "missing": "drop_rows"}
    job = api.calls.trainings.wait(api.calls.trainings.submit(request).id)
    assert (job.state, job.version) == ("failed", None)
    assert job.error is not None
    assert job.error.detail
    assert job.error.type.startswith("/problems/")
    with pytest.raises(ClientError) as refused:
        api.calls.model("gaps")
    assert refused.value.problem.status == 404
