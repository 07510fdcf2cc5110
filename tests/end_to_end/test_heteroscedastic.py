"""Noise that depends on the inputs, from the request to an imported copy, on both databases."""

import math
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client.responses import Json, SupervisedVersion
from tests.end_to_end.deployment import Api

LIKELIHOOD: dict[str, Json] = {"type": "gaussian", "noise_sd": "heteroscedastic"}


def fan(rows: int, unit: float) -> dict[str, list[Json]]:
    """A line about which rows scatter the more the farther they are, from about .1 to 2 `unit`s."""
    random = Random(5)
    x = [random.uniform(0.0, 3.0) for _ in range(rows)]
    return {"x": list(x), "y": [unit * (5.0 + at + random.gauss(0.0, 0.1 * math.exp(at))) for at in x]}


def log_noise(api: Api, name: str) -> dict[str, float]:
    """The weights of the bias and of the input in the logarithm of the noise variance."""
    found = dict[str, float]()
    for vector in api.calls.relevance_vectors(name, 1):
        if vector.function == "log_noise" and vector.kind in {"bias", "input"}:
            assert vector.weight_mean is not None
            found[vector.kind] = vector.weight_mean
    return found


def noises(api: Api, name: str) -> list[float]:
    """The noise variances at .3 and 2.7; all that is explained adds up to the mean."""
    found = list[float]()
    for row in api.calls.predict(name, {"columns": {"x": [0.3, 2.7]}}, explain=3).predictions:
        assert row.variance is not None
        assert row.mean is not None
        assert row.explanation is not None
        assert row.explanation_sum is not None
        parts = row.explanation_sum
        added = sum(one.contribution for one in row.explanation)
        assert parts.baseline + added + parts.others == pytest.approx(row.mean, rel=1e-9)
        found.append(row.variance.noise)
    return found


def test_each_row_has_the_noise_of_its_place(api: Api, tmp_path: Path) -> None:
    unit = 1_024.0  # a power of two: the same fit to the last bit
    dataset = api.calls.create_dataset(fan(120, unit), name="fan")
    job = api.train(dataset_id=dataset.id, target="y", model="fan", likelihood=LIKELIHOOD, validation={"folds": 3})
    version = api.calls.version("fan", 1)
    assert isinstance(version, SupervisedVersion)
    assert job.likelihood == version.likelihood == LIKELIHOOD
    assert job.compared_models == ()
    assert version.metrics["validation"]["rows"] == 120
    vectors = [*api.calls.relevance_vectors("fan", 1)]
    assert len(vectors) == version.functions
    assert {vector.function for vector in vectors} == {"mean", "log_noise"}
    smaller = api.calls.create_dataset(fan(120, 1.0), name="fan-of-one")
    api.train(dataset_id=smaller.id, target="y", model="fan-of-one", likelihood=LIKELIHOOD)
    for kind, weight in log_noise(api, "fan").items():
        shift = 2.0 * math.log(unit) if kind == "bias" else 0.0
        assert weight == pytest.approx(log_noise(api, "fan-of-one")[kind] + shift, abs=1e-9)
    found = noises(api, "fan")
    for noise, sd in zip(found, (0.1 * math.exp(0.3), 0.1 * math.exp(2.7)), strict=True):
        assert noise == pytest.approx((unit * sd) ** 2, rel=0.7)

    file = tmp_path / "fan.json"
    file.write_bytes(api.calls.export("fan", 1, "json"))
    api.calls.import_version(file, model="fan-copy")
    assert api.calls.version("fan-copy", 1).likelihood == LIKELIHOOD
    assert noises(api, "fan-copy") == found


def test_it_is_refused_where_weights_are_independent(api: Api) -> None:
    dataset = api.calls.create_dataset(fan(30, 1.0), name="fan-refused")
    request: dict[str, Json] = {
        "dataset_id": dataset.id,
        "target": "y",
        "likelihood": LIKELIHOOD,
        "prior": {"type": "independent"},
    }
    response = api.http.post("/v1/training-jobs", json=request)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/likelihood"
