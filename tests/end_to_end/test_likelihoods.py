"""Counts, positive numbers and outliers, from a table to predictions on both databases."""

import math
import runpy
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json, Prediction
from tests.end_to_end.deployment import Api
from tests.end_to_end.tables import sinc

ROWS = 80
WIDTH: Json = {"type": "kernel", "width": {"type": "fixed", "value": 3.0}}
POINTS = [-8.0, -4.5, 0.25, 4.5, 8.0]
PLANTED = {3: 3.0, 17: -2.0, 40: 4.0, 41: -5.0, 77: 2.5}
"""The numbers that were added, by row."""


def sinc_at(x: float) -> float:
    return math.sin(x) / x


def counted(rate: float, random: Random) -> int:
    """A draw of Poisson's distribution: so many exponential waits fit into a time of `rate`."""
    count, waited = 0, random.expovariate(1.0)
    while waited < rate:
        count, waited = count + 1, waited + random.expovariate(1.0)
    return count


def table(name: str) -> dict[str, list[float]]:
    """Targets around the sinc as this likelihood has them."""
    random, inputs = Random(5), sinc(ROWS)["x"]
    match name:
        case "poisson" | "negative_binomial":
            y = [float(counted(math.exp(1.0 + 2.0 * sinc_at(x)), random)) for x in inputs]
        case "hurdle":
            y = [math.exp(2.0 + 2.0 * sinc_at(x) + random.gauss(0, 0.2)) for x in inputs]
            y = [0.0 if random.random() < 0.4 else one for one in y]
        case "log_gaussian":
            y = [1000.0 * math.exp(2.0 * sinc_at(x) + random.gauss(0, 0.2)) for x in inputs]
        case _:
            y = [50.0 + 10.0 * (sinc_at(x) + random.uniform(-0.1, 0.1)) for x in inputs]
            for row, added in PLANTED.items():
                y[row] += 10.0 * added
    return {"x": inputs, "y": y}


def predicted(api: Api, name: str) -> tuple[Prediction, ...]:
    return api.calls.predict(name, {"columns": {"x": list[Json](POINTS)}, "interval": 0.9}).predictions


def trained(api: Api, likelihood: dict[str, Json], prior: str, **request: Json) -> str:
    """The name of a model of its table; the job and the version show the likelihood as it was requested."""
    name = "-".join(str(value).replace("_", "-") for value in (*likelihood.values(), prior))
    dataset = api.calls.create_dataset(table(str(likelihood["type"])), name=name)
    requested: dict[str, Json] = {"target": "y", "likelihood": likelihood, "prior": {"type": prior}, **request}
    job = api.train(dataset_id=dataset.id, model=name, **requested)
    assert job.likelihood == api.calls.version(name, 1).likelihood == likelihood
    assert (job.task, job.classes) == ("regression", ())
    return name


PRIORS: dict[str, dict[str, Json]] = {"independent": {"basis": WIDTH}, "gaussian_process": {}}
each_prior = pytest.mark.parametrize("prior", PRIORS)


@pytest.mark.parametrize(
    "likelihood", [{"type": "poisson"}, {"dispersion": "learned", "type": "negative_binomial"}], ids=["poisson", "more"]
)
@each_prior
def test_counts_have_rates_and_whole_intervals(api: Api, prior: str, likelihood: dict[str, Json]) -> None:
    name = trained(api, likelihood, prior, holdout=0.2, **PRIORS[prior])
    version = api.calls.version(name, 1)
    assert (version.hyperparameters.noise_sd, version.hyperparameters.degrees_of_freedom) == (None, None)
    assert version.outliers == ()
    assert version.metrics["holdout"]["nll"] < 2.6
    assert version.metrics["holdout"]["coverage_95"] > 0.8
    for x, row in zip(POINTS, predicted(api, name), strict=True):
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        assert row.variance is not None
        assert row.mean == pytest.approx(math.exp(1.0 + 2.0 * sinc_at(x)), rel=0.4)
        assert 0.0 <= row.lower < row.mean < row.upper
        assert (row.lower.is_integer(), row.upper.is_integer()) == (True, True)
        if likelihood["type"] == "poisson":
            assert row.variance.noise == pytest.approx(row.mean)
        assert row.variance.noise > 0.999 * row.mean
        assert row.variance.total > row.mean


@each_prior
def test_positive_numbers_have_intervals_above_zero_that_lean_upwards(api: Api, prior: str) -> None:
    name = trained(api, {"type": "log_gaussian"}, prior, holdout=0.2, **PRIORS[prior])
    version = api.calls.version(name, 1)
    assert version.hyperparameters.noise_sd == pytest.approx(0.2, rel=0.3)
    assert version.hyperparameters.signal_sd is None or 0.1 < version.hyperparameters.signal_sd < 5.0
    assert 50.0 < version.metrics["holdout"]["rmse"] < 1000.0
    assert 5.0 < version.metrics["holdout"]["nll"] < 9.0
    for x, row in zip(POINTS, predicted(api, name), strict=True):
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        median = (row.lower * row.upper) ** 0.5
        assert median == pytest.approx(1000.0 * math.exp(2.0 * sinc_at(x)), rel=0.3)
        assert 0.0 < row.lower < median < row.mean < row.upper
        assert row.upper - row.mean > row.mean - row.lower


@each_prior
def test_amounts_with_many_zeros_have_intervals_from_zero_on_in_a_program_too(
    api: Api, prior: str, tmp_path: Path
) -> None:
    name = trained(api, {"type": "hurdle"}, prior, holdout=0.2, **PRIORS[prior])
    version = api.calls.version(name, 1)
    zero, positive = version.members
    assert (zero.weight, positive.weight, zero.hyperparameters.noise_sd) == (None, None, None)
    assert positive.hyperparameters.noise_sd == pytest.approx(0.2, rel=0.5)
    assert version.metrics["holdout"]["coverage_95"] > 0.8
    for x, row in zip(POINTS, predicted(api, name), strict=True):
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        assert row.mean == pytest.approx(0.6 * math.exp(2.02 + 2.0 * sinc_at(x)), rel=0.6)
        assert 0.0 <= row.lower < row.mean < row.upper
    file = tmp_path / "hurdle.npz"
    file.write_bytes(api.calls.export(name, 1, "npz"))
    api.calls.import_version(file, model=f"{name}-copy")
    assert predicted(api, f"{name}-copy") == predicted(api, name)
    program = tmp_path / "hurdle.py"
    program.write_bytes(api.calls.export(name, 1, "python"))
    found = runpy.run_path(str(program))["predict"]({"x": list(POINTS)})
    rows = api.calls.predict(name, {"columns": {"x": list[Json](POINTS)}}).predictions
    assert found["mean"] == pytest.approx([row.mean for row in rows], rel=1e-9)
    assert found["lower"] == pytest.approx([row.lower for row in rows], rel=1e-9)
    assert found["upper"] == pytest.approx([row.upper for row in rows], rel=1e-9)


@each_prior
def test_planted_outliers_are_exactly_those_that_are_reported(api: Api, prior: str) -> None:
    name = trained(api, {"type": "student_t", "degrees_of_freedom": 4.0}, prior, **PRIORS[prior])
    version = api.calls.version(name, 1)
    assert version.hyperparameters.degrees_of_freedom == 4.0
    assert {outlier.row for outlier in version.outliers} == set(PLANTED)
    weights = [outlier.weight for outlier in version.outliers]
    assert weights == sorted(weights)
    assert 0.0 < weights[0] < weights[-1] < 0.25
    for x, row in zip(POINTS, predicted(api, name), strict=True):
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        assert row.mean == pytest.approx(50.0 + 10.0 * sinc_at(x), abs=0.8)
        assert row.upper - row.mean == pytest.approx(row.mean - row.lower)


def test_how_heavy_tails_are_is_learned(api: Api) -> None:
    name = trained(api, {"type": "student_t", "degrees_of_freedom": "learned"}, "independent", basis=WIDTH)
    found = api.calls.version(name, 1).hyperparameters
    assert found.degrees_of_freedom is not None
    assert 2.1 <= found.degrees_of_freedom < 4.0


def test_a_target_that_cannot_be_counted_is_refused_with_what_to_use(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(20), name="not-counted")
    with pytest.raises(ClientError) as refused:
        api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "likelihood": {"type": "poisson"}})
    problem = refused.value.problem
    assert (problem.status, problem.errors[0].pointer) == (422, "/likelihood")
    assert '"gaussian" or "student_t"' in problem.detail


def test_noise_known_by_row_weighs_rows_and_is_reported_with_predictions(api: Api) -> None:
    random, inputs = Random(9), sinc(ROWS)["x"]
    sds = [random.choice((0.2, 20.0)) for _ in inputs]
    y = [50.0 + 10.0 * sinc_at(x) + random.gauss(0, sd) for x, sd in zip(inputs, sds, strict=True)]
    dataset = api.calls.create_dataset({"x": inputs, "sd": sds, "y": y}, name="measured")
    likelihood: Json = {"type": "gaussian", "noise_sd": {"column": "sd"}}
    requested: dict[str, Json] = {"target": "y", "likelihood": likelihood, "validation": {"folds": 3}, "holdout": 0.2}
    job = api.train(dataset_id=dataset.id, model="measured", **requested)
    version = api.calls.version("measured", 1)
    assert job.likelihood == version.likelihood == likelihood
    assert ([column.name for column in version.inputs], version.noise_column) == (["x"], "sd")
    assert version.ignored[0].reason == "it has the noise of each row"
    mean_square = sum(sd * sd for sd in sds) / ROWS
    noise_sd = version.hyperparameters.noise_sd
    assert noise_sd == pytest.approx(math.sqrt(mean_square), rel=0.2)
    assert version.metrics["holdout"]["coverage_95"] > 0.8
    assert version.metrics["validation"]["coverage_95"] > 0.85
    known: list[Json] = [0.5, 3.0, 1.0, 0.1, 7.0]
    without = api.calls.predict("measured", {"columns": {"x": list[Json](POINTS)}}).predictions
    own = api.calls.predict("measured", {"columns": {"x": list[Json](POINTS), "sd": known}}).predictions
    for x, sd, plain, row in zip(POINTS, (0.5, 3.0, 1.0, 0.1, 7.0), without, own, strict=True):
        assert plain.variance is not None
        assert row.variance is not None
        assert noise_sd is not None
        assert row.mean == plain.mean == pytest.approx(50.0 + 10.0 * sinc_at(x), abs=1.0)
        assert row.variance.noise == pytest.approx(sd**2)
        assert plain.variance.noise == pytest.approx(noise_sd**2)
    with pytest.raises(ClientError) as refused:
        api.calls.predict("measured", {"columns": {"x": [0.0, 1.0], "sd": [0.1, None]}})
    assert (refused.value.problem.status, refused.value.problem.errors[0].row) == (422, 1)
