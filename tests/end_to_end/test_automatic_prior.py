"""The default fits where prior and likelihood are left open, on both databases."""

import math
from random import Random

import pytest

from relevance_bayes.client.responses import Choice, Json, SupervisedJob, SupervisedVersion
from tests.end_to_end.deployment import Api
from tests.end_to_end.tables import sinc

Table = dict[str, list[float]]
COLUMNS = 15
USED = {"c0": 2.0, "c3": 1.5}
"""Of many columns the few that the target is a sum of, and how many times each."""


def few_of_many_columns(rows: int) -> Table:
    random = Random(2)
    columns = {f"c{number}": [random.gauss(0, 1) for _ in range(rows)] for number in range(COLUMNS)}
    noise = [random.gauss(0, 0.3) for _ in range(rows)]
    return {**columns, "y": [sum(USED[name] * columns[name][row] for name in USED) + noise[row] for row in range(rows)]}


def growth(rows: int) -> Table:
    """From about 50 to 7,400; each is off by a fifth."""
    random = Random(3)
    x = [random.uniform(0, 10) for _ in range(rows)]
    return {"x": x, "y": [50 * math.exp(0.5 * at + random.gauss(0, 0.2)) for at in x]}


def trained(api: Api, name: str, table: Table, **given: Json) -> tuple[SupervisedJob, SupervisedVersion]:
    dataset = api.calls.create_dataset({column: list[Json](values) for column, values in table.items()}, name=name)
    job = api.train(dataset_id=dataset.id, target="y", model=name, **given)
    return job, api.calls.version(name, 1)


def kinds(prior: Choice, likelihood: Choice) -> tuple[object, object]:
    return prior["type"], likelihood["type"]


def assert_reported(job: SupervisedJob, version: SupervisedVersion, *, chosen: tuple[str, str]) -> None:
    """That the version has the best of what the job planned, and that the others have a lower score or a reason."""
    planned = [kinds(job.prior, job.likelihood), *(kinds(one.prior, one.likelihood) for one in job.compared_models)]
    others = [kinds(one.prior, one.likelihood) for one in version.alternatives]
    compared = [kinds(version.prior, version.likelihood), *others]
    assert compared[0] == chosen
    assert set(compared) == set(planned)
    assert version.score is not None
    best = version.score.value
    assert best is not None
    for one in version.alternatives:
        assert one.kind == "fold_log_density"
        assert one.reason is not None if one.score is None else one.score < best


def predicted(api: Api, name: str, **columns: list[Json]) -> list[tuple[float, float, float]]:
    """Mean, lower and upper."""
    found = []
    for row in api.calls.predict(name, {"columns": dict[str, Json](columns)}).predictions:
        assert row.mean is not None
        assert row.lower is not None
        assert row.upper is not None
        found.append((row.mean, row.lower, row.upper))
    return found


def test_a_curve_is_a_process(api: Api) -> None:
    job, version = trained(api, "curve", sinc(100), holdout=0.2, effort="normal")
    assert_reported(job, version, chosen=("gaussian_process", "gaussian"))
    assert version.hyperparameters.signal_sd is not None
    assert version.metrics["leave_one_out"]["rmse"] == pytest.approx(0.1, rel=0.3)
    assert set(version.metrics) == {"holdout", "leave_one_out", "validation"}
    for at, (mean, lower, upper) in zip((-4.5, 1.0), predicted(api, "curve", x=[-4.5, 1.0]), strict=True):
        assert mean == pytest.approx(math.sin(at) / at, abs=0.1)
        assert upper - lower == pytest.approx(4 * 0.1, rel=0.4)


def test_few_of_many_columns_have_independent_weights(api: Api) -> None:
    job, version = trained(api, "few", few_of_many_columns(120), effort="normal")
    assert job.prior["type"] == "gaussian_process"
    assert_reported(job, version, chosen=("independent", "gaussian"))
    vectors = api.calls.relevance_vectors("few", 1)
    assert {vector.input for vector in vectors} == set(USED)
    assert version.hyperparameters.noise_sd == pytest.approx(0.3, rel=0.3)


def test_exponential_growth_is_learned_as_its_logarithm(api: Api) -> None:
    job, version = trained(api, "growth", growth(100), holdout=0.2, effort="normal")
    assert job.likelihood["type"] == "gaussian"
    assert [kinds(one.prior, one.likelihood) for one in job.compared_models] == [
        ("gaussian_process", "log_gaussian"),
        ("independent", "gaussian"),
        ("gaussian_process", "student_t"),
        ("gaussian_process", "gaussian"),  # with heteroscedastic noise
    ]
    assert_reported(job, version, chosen=("gaussian_process", "log_gaussian"))
    assert version.score is not None
    assert version.score.value is not None
    scores = [other.score for other in version.alternatives if other.score is not None]
    assert version.score.value > max(scores) + 0.1
    assert version.hyperparameters.noise_sd == pytest.approx(0.2, rel=0.3)
    for at, (mean, lower, upper) in zip((1.0, 9.0), predicted(api, "growth", x=[1.0, 9.0]), strict=True):
        median = (lower * upper) ** 0.5
        assert median == pytest.approx(50 * math.exp(0.5 * at), rel=0.15)
        assert 0 < lower < median < mean < upper
        assert upper / lower == pytest.approx(math.exp(4 * 0.2), rel=0.5)


def test_what_is_stated_is_not_compared(api: Api) -> None:
    job, version = trained(api, "said", growth(60), prior={"type": "gaussian_process"})
    assert (job.compared_models, version.alternatives) == ((), ())
    assert kinds(version.prior, version.likelihood) == ("gaussian_process", "gaussian")
