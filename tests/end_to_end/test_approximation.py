"""A known function as a table of its terms, represented by few of them, on both databases."""

from math import cos, sin
from random import Random

import numpy as np
import pytest
from sklearn.svm import SVR

from relevance_bayes.client import ClientError
from relevance_bayes.client.expansions import expansion_of
from relevance_bayes.client.responses import ApproximationJob, ApproximationVersion, Json
from relevance_bayes.core.types import Array
from relevance_bayes.records.models import TermsError
from tests.end_to_end.deployment import Api

WIDTH = 0.8
PLACES = np.linspace(-6.0, 6.0, 61)


def rows() -> list[Json]:
    """Two heaps of numbers, of which one is twice as high."""
    random = Random(3)
    return [random.gauss(-2.0, 0.7) if row % 3 else random.gauss(2.0, 0.5) for row in range(150)]


def density(terms: list[Json], at: Array) -> Array:
    """Equal bumps that integrate to 1 together."""
    places = np.array(terms, np.float64)
    bumps = np.exp(-np.square((at[:, None] - places) / WIDTH))
    return np.asarray(bumps.sum(axis=1) / (len(terms) * WIDTH * np.sqrt(np.pi)))


def trained(api: Api, **request: Json) -> ApproximationVersion:
    """The version of a job that succeeded."""
    submitted = api.calls.trainings.submit({"task": "approximation", "width": WIDTH, **request}, of=ApproximationJob)
    job = api.calls.trainings.wait(submitted.id, of=ApproximationJob)
    assert job.state == "succeeded", job
    return api.calls.version(job.model, of=ApproximationVersion)


def values(api: Api, model: str, at: Array) -> Array:
    """The function that a model stands for."""
    responses = api.calls.predict(model, {"columns": {"x": list[Json](at.tolist())}}).predictions
    return np.array([response.value for response in responses])


def test_a_kernel_density_estimate_is_represented_by_few_terms_that_are_a_density(api: Api) -> None:
    terms = rows()
    dataset = api.calls.create_dataset({"x": terms, "name": ["a"] * len(terms)}, name="heaps")
    version = trained(api, dataset_id=dataset.id, tolerance=0.02, density=True)
    assert (version.task, version.rows, version.coefficients) == ("approximation", 150, None)
    assert [column.name for column in version.inputs] == ["x"]
    assert [column.name for column in version.ignored] == ["name"]
    assert version.functions < 20
    assert version.error <= 0.02
    assert version.integral == pytest.approx(1.0)
    assert version.integral_kept == pytest.approx(1.0)
    full = density(terms, PLACES)
    found = values(api, version.model, PLACES)
    assert found.min() >= 0.0
    assert np.abs(found - full).max() < 0.05 * full.max()
    assert version.path[0] == TermsError(0, 1.0)
    vectors = list(api.calls.relevance_vectors(version.model, 1))
    assert len(vectors) == version.functions
    for vector in vectors:
        assert vector.row is not None
        assert vector.inputs == {"x": terms[vector.row]}
        assert vector.shape[0].location == terms[vector.row]
    # The list has the function that is returned.
    reported = sum(
        (vector.weight_mean or 0.0) * np.exp(-np.square((PLACES - (vector.shape[0].location or 0.0)) / span))
        for vector in vectors
        for span in [vector.shape[0].scale or np.nan]
    )
    np.testing.assert_allclose(reported, found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_terms", [2, 4])
def test_a_density_has_no_more_terms_than_were_allowed(api: Api, max_terms: int) -> None:
    dataset = api.calls.create_dataset({"x": rows()}, name=f"at most {max_terms}")
    version = trained(api, dataset_id=dataset.id, tolerance=0.001, density=True, max_functions=max_terms)
    assert version.functions <= max_terms
    assert version.integral_kept == pytest.approx(1.0)
    assert values(api, version.model, PLACES).min() >= 0.0


def test_coefficients_of_both_signs_and_a_constant_are_reported(api: Api) -> None:
    terms, coefficients = [-1.0, 0.0, 0.1, 2.0], [1.0, 2.0, -0.5, -3.0]
    dataset = api.calls.create_dataset({"x": list[Json](terms), "c": list[Json](coefficients)}, name="signs")
    version = trained(api, dataset_id=dataset.id, coefficients="c", constant=10.0, tolerance=0.001)
    full = 10.0 + np.exp(-np.square((PLACES[:, None] - np.array(terms)) / WIDTH)) @ np.array(coefficients)
    np.testing.assert_allclose(values(api, version.model, PLACES), full, atol=0.01)
    assert version.constant == 10.0
    assert version.integral == pytest.approx(sum(coefficients) * WIDTH * np.sqrt(np.pi))


def test_what_only_models_of_data_predict_is_refused_where_it_is(api: Api) -> None:
    dataset = api.calls.create_dataset({"x": [0.0, 1.0]}, name="two-terms")
    version = trained(api, dataset_id=dataset.id)
    with pytest.raises(ClientError) as refused:
        api.calls.predict(version.model, {"columns": {"x": [0.5]}}, explain=1)
    problem = refused.value.problem
    assert (problem.status, problem.errors[0].pointer) == (422, "/explain")
    with pytest.raises(ClientError) as undecided:
        api.calls.predict(version.model, {"columns": {"x": [0.5]}}, reject_cost=0.1)
    assert [place.pointer for place in undecided.value.problem.errors] == ["/reject_cost"]


def test_terms_that_cancel_are_no_function(api: Api) -> None:
    dataset = api.calls.create_dataset({"x": [1.0, 1.0], "c": [1.0, -1.0]}, name="cancelled-terms")
    requested: dict[str, Json] = {"task": "approximation", "dataset_id": dataset.id, "coefficients": "c", "width": 1.0}
    job = api.calls.trainings.wait(api.calls.trainings.submit(requested, of=ApproximationJob).id, of=ApproximationJob)
    assert job.error is not None
    assert "cancel" in job.error.detail


def test_a_name_of_predictions_is_none_of_a_function(api: Api) -> None:
    dataset = api.calls.create_dataset({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 1.0, 0.0, 2.0]}, name="other-meaning")
    api.train(dataset_id=dataset.id, target="y", model="other-meaning")
    with pytest.raises(ClientError) as refused:
        trained(api, dataset_id=dataset.id, coefficients="y", model="other-meaning")
    assert (refused.value.problem.status, refused.value.problem.errors[0].pointer) == (409, "/task")


def test_a_support_vector_machine_goes_in_and_comes_out_smaller(api: Api) -> None:
    x = np.linspace(-3.0, 3.0, 200)
    machine = SVR(C=10.0, gamma=1.0, epsilon=0.01).fit(x[:, None], np.sin(2.0 * x))
    expansion = expansion_of(machine)
    submitted = api.calls.approximate(expansion, model="machine", tolerance=0.01)
    job = api.calls.trainings.wait(submitted.id, of=ApproximationJob)
    assert job.state == "succeeded", job
    version = api.calls.version("machine", of=ApproximationVersion)
    assert version.functions < len(expansion.weights) / 2
    at: list[Json] = list(x[::9].tolist())
    responses = api.calls.predict("machine", {"columns": {"x1": at}}).predictions
    np.testing.assert_allclose(
        np.array([response.value for response in responses], np.float64), machine.predict(x[::9, None]), atol=0.05
    )


def test_a_version_of_ours_goes_in_and_comes_out_smaller(api: Api) -> None:
    random = Random(7)
    columns: dict[str, list[Json]] = {"east": [], "north": [], "y": []}
    for _ in range(150):
        east, north = random.uniform(100.0, 104.0), random.uniform(-3.0, 1.0)
        columns["east"].append(east)
        columns["north"].append(north)
        columns["y"].append(50.0 + 10.0 * sin(east) * cos(north) + random.gauss(0.0, 0.1))
    dataset = api.calls.create_dataset(columns, name="land")
    basis: Json = [{"type": "kernel", "warp": "none"}, {"type": "bias"}]
    api.train(dataset_id=dataset.id, target="y", basis=basis, prior={"type": "gaussian_process"})
    reported = api.calls.expansion("land", 1)
    assert reported.inputs == ("east", "north")
    at: dict[str, Json] = {"east": [100.5, 102.0, 103.3], "north": [0.5, -1.0, -2.2]}
    responses = api.calls.predict("land", {"columns": at}).predictions
    places = np.array([at["east"], at["north"]], np.float64).T
    bumps = np.exp(-np.square((places[:, None] - reported.centres) / np.array(reported.width)).sum(axis=2))
    means = np.array([response.mean for response in responses], np.float64)
    np.testing.assert_allclose(reported.constant + bumps @ reported.weights, means, rtol=1e-9)
    submitted = api.calls.approximate(reported, model="land-by-few", tolerance=0.02)
    assert api.calls.trainings.wait(submitted.id, of=ApproximationJob).state == "succeeded"
    few = api.calls.predict("land-by-few", {"columns": at}).predictions
    np.testing.assert_allclose(np.array([one.value for one in few], np.float64), means, atol=1.0)


def test_a_version_that_is_no_sum_of_gaussians_states_why(api: Api) -> None:
    places = [row / 5.0 for row in range(40)]
    columns: dict[str, list[Json]] = {"x": list(places), "y": [sin(x) for x in places]}
    dataset = api.calls.create_dataset(columns, name="broken-line")
    basis: Json = [{"type": "kernel", "kernel": {"type": "matern_5_2"}}, {"type": "bias"}]
    api.train(dataset_id=dataset.id, target="y", basis=basis)
    with pytest.raises(ClientError) as refused:
        api.calls.expansion("broken-line", 1)
    assert refused.value.problem.status == 409
    assert "functions other than Gaussians" in refused.value.problem.detail
