"""Usual rows are learned, and new ones are found, on both databases."""

import numpy as np
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import ComponentsJob, ComponentsVersion, Json, Prediction
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tasks.components.learning import components, typical_width
from relevance_bayes.tasks.components.space import Components
from tests.end_to_end.deployment import Api

RANDOM = np.random.default_rng(5)
HEAPS = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 3.0]])
SPREAD = np.array([3.0, 0.3])


def heaps(rows: int) -> Array:
    """Three of them; the first input is in tenths of the second's unit."""
    return np.asarray(HEAPS[RANDOM.integers(0, 3, rows)] + SPREAD * RANDOM.standard_normal((rows, 2)))


USUAL = heaps(150)
FRESH = heaps(300)
APART: Array = np.array([[15.0, 1.5], [60.0, 6.0], [-20.0, 1.0], [30.0, 3.0]])


def columns(rows: Array) -> dict[str, list[Json]]:
    return {"x": rows[:, 0].tolist(), "z": rows[:, 1].tolist()}


def uploaded(api: Api, name: str, rows: Array = USUAL) -> str:
    return api.calls.create_dataset(columns(rows), name=name).id


def trained(api: Api, **request: Json) -> ComponentsVersion:
    """The version of a job that succeeded."""
    job = api.calls.trainings.wait(
        api.calls.trainings.submit({"task": "components", **request}, of=ComponentsJob).id, of=ComponentsJob
    )
    assert job.state == "succeeded", job
    return api.calls.version(job.model, of=ComponentsVersion)


def reported(api: Api, model: str, rows: Array, number: int | None = None) -> tuple[Prediction, ...]:
    return api.calls.predict(model, {"columns": dict[str, Json](columns(rows))}, components=number).predictions


def test_what_lies_apart_is_new_and_what_is_like_the_rows_is_not(api: Api) -> None:
    version = trained(api, dataset_id=uploaded(api, "three-heaps"), min_explained_variance=0.8)
    assert (version.task, version.rows, version.rows_drawn, version.standardised) == ("components", 150, 150, True)
    assert 3 <= version.functions < 40
    assert version.explained_variance > 0.75
    assert list(version.variances) == sorted(version.variances, reverse=True)
    novelty = np.array([one.novelty for one in reported(api, version.model, FRESH)])
    assert (novelty > 0.9).mean() == pytest.approx(0.1, abs=0.07)
    assert novelty.mean() == pytest.approx(0.5, abs=0.1)
    apart = reported(api, version.model, APART)
    assert [one.novelty for one in apart] == [1.0] * len(APART)
    missed = np.array([one.reconstruction_error for one in (*apart, *reported(api, version.model, FRESH))], np.float64)
    assert missed[: len(APART)].min() > np.quantile(missed[len(APART) :], 0.9)


def test_figures_are_the_cores_of_the_rows_as_they_are_encoded(api: Api) -> None:
    version = trained(api, dataset_id=uploaded(api, "heaps-figures"), seed=2)
    mean, sd = USUAL.mean(axis=0), USUAL.std(axis=0)
    inputs = (USUAL - mean) / sd
    width = typical_width(inputs, seed=2)
    (found_width,) = version.widths
    assert found_width.input is None
    assert found_width.width == pytest.approx(width)
    *_, found = components(inputs, Gaussian(), InputMap.isotropic(width), seed=2)
    assert isinstance(found, Components)
    assert version.variances == pytest.approx(found.variances.tolist(), rel=1e-6)
    assert version.log_marginal_likelihood == pytest.approx(found.evidence)
    responses = reported(api, version.model, FRESH, number=2)
    fresh = (FRESH - mean) / sd
    first = np.array([one.components for one in responses], np.float64)
    np.testing.assert_allclose(np.abs(first), np.abs(found.project(fresh)[:, :2]), atol=1e-6)
    missed = np.array([one.reconstruction_error for one in responses], np.float64)
    np.testing.assert_allclose(missed, found.missed(fresh, 2), atol=1e-6)
    density = np.array([one.log_density for one in responses], np.float64)
    np.testing.assert_allclose(density, found.log_density(fresh), rtol=1e-5)
    vectors = list(api.calls.relevance_vectors(version.model, 1))
    assert sorted(vector.row for vector in vectors if vector.row is not None) == sorted(found.rows.tolist())
    for vector in vectors:
        assert vector.row is not None
        assert vector.inputs == {"x": USUAL[vector.row, 0], "z": USUAL[vector.row, 1]}


def test_a_bad_row_has_its_problem_in_its_place(api: Api) -> None:
    version = trained(api, dataset_id=uploaded(api, "bad-rows"), width=1.5, kernel={"type": "cauchy"})
    assert not version.standardised
    assert version.widths == (InputWidth(None, 1.5),)
    body = {"columns": {"x": [0.0, None], "z": [0.0, 1.0]}, "on_error": "per_row", "outputs": ["novelty"]}
    first, second = api.http.post(f"/v1/models/{version.model}/predict", json=body).json()["predictions"]
    assert list(first) == ["novelty"]
    assert list(second) == ["error"]


@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({"min_explained_variance": 1.0}, "/min_explained_variance"),
        ({"width": 0.0}, "/width"),
        ({"width": [1.0, 2.0]}, "/inputs"),
        ({"inputs": ["x", "y"]}, "/inputs/1"),
        ({"kernel": {"type": "cubic"}}, "/kernel/type"),
        ({"kernel": {"type": "gaussian", "power": 2}}, "/kernel/power"),
        ({"target": "x"}, "/target"),
        ({"missing": "guess"}, "/missing"),
    ],
)
def test_what_is_wrong_is_refused_where_it_is(api: Api, request_: dict[str, Json], pointer: str) -> None:
    dataset_id = uploaded(api, "refused", USUAL[:10])
    with pytest.raises(ClientError) as refused:
        api.calls.trainings.submit({"task": "components", "dataset_id": dataset_id, **request_}, of=ComponentsJob)
    problem = refused.value.problem
    assert (problem.status, [one.pointer for one in problem.errors]) == (422, [pointer])


def test_predictions_of_another_task_are_refused_where_they_are_requested(api: Api) -> None:
    version = trained(api, dataset_id=uploaded(api, "other-outputs"))
    for requested, pointer in (({"explain": 1}, "/explain"), ({"outputs": ["mean"]}, "/outputs/0")):
        response = api.http.post(f"/v1/models/{version.model}/predict", json={"columns": columns(APART), **requested})
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)


def test_rows_that_are_all_alike_have_no_components(api: Api) -> None:
    dataset_id = api.calls.create_dataset({"x": [1.0, 1.0, None], "z": [2.0, 2.0, 3.0]}, name="alike").id
    requested: dict[str, Json] = {"task": "components", "dataset_id": dataset_id, "inputs": ["x", "z"], "width": 1.0}
    job = api.calls.trainings.wait(
        api.calls.trainings.submit({**requested, "missing": "drop_rows"}, of=ComponentsJob).id, of=ComponentsJob
    )
    assert job.error is not None
    assert "alike" in job.error.detail
