"""Explanations add up over HTTP: each task is learned, and each prediction is the sum that its explanation states."""

import math
from random import Random

import pytest

from relevance_bayes.client.responses import Json, Latent, Prediction
from tests.end_to_end.deployment import Api

ROWS = 60
BASIS: list[Json] = [{"type": "kernel", "width": {"type": "fixed", "value": 2.0}}, {"type": "bias"}, {"type": "inputs"}]
POINTS: dict[str, Json] = {"x": [-2.0, -0.3, 0.4, 1.7], "z": [120.0, 80.0, 95.0, 101.0]}

TASKS: dict[str, dict[str, Json]] = {
    "gaussian": {"type": "gaussian"},
    "known noise": {"type": "gaussian", "noise_sd": 5.0},
    "student_t": {"type": "student_t"},
    "log_gaussian": {"type": "log_gaussian"},
    "poisson": {"type": "poisson"},
    "two classes": {"type": "bernoulli"},
    "three classes": {"type": "categorical"},
    "one_against_rest": {"type": "one_against_rest"},
}


def table(name: str) -> dict[str, list[Json]]:
    random = Random(3)
    x, z = [random.uniform(-2, 2) for _ in range(ROWS)], [random.gauss(100, 20) for _ in range(ROWS)]
    f = [math.sin(2 * a) + 0.02 * (b - 100) + random.gauss(0, 0.1) for a, b in zip(x, z, strict=True)]
    y: list[Json]
    match name:
        case "log_gaussian":
            y = [1000.0 * math.exp(one) for one in f]
        case "poisson":
            y = [float(round(math.exp(1.5 + one))) for one in f]
        case "two classes":
            y = [one > 0 for one in f]
        case "three classes" | "one_against_rest":
            y = ["low" if one < -0.4 else "middle" if one < 0.4 else "high" for one in f]
        case _:
            y = [500.0 + 40.0 * one for one in f]
    return {"x": [*x], "z": [*z], "y": y}


def mean_of(name: str, row: Prediction) -> float | None:
    """The mean that the prediction shows beside its explanation; None where it shows that of another function."""
    match name, row.latent:
        case (("log_gaussian" | "poisson"), _):
            return None
        case _, Latent(mean=mean):
            return mean
        case _, tuple(latents):
            (mean,) = (one.mean for one in latents if one.label == row.label)
            return mean
        case _:
            return row.mean


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("prior", ["independent", "gaussian_process"])
def test_each_prediction_is_the_sum_of_its_explanation(api: Api, name: str, prior: str) -> None:
    model = f"explained-{name}-{prior}".replace(" ", "-").replace("_", "-")
    dataset = api.calls.create_dataset(table(name), name=model)
    basis: dict[str, Json] = {"basis": BASIS} if prior == "independent" else {}
    api.train(dataset_id=dataset.id, model=model, target="y", likelihood=TASKS[name], prior={"type": prior}, **basis)
    rows = api.calls.predict(model, {"columns": POINTS}, explain=3, interval=0.5).predictions
    vectors = {one.number: one for one in api.calls.relevance_vectors(model, 1)}
    for row in rows:
        assert row.explanation is not None
        total = row.explanation_sum
        assert total is not None
        added = [one.contribution for one in row.explanation]
        size = sum(map(abs, added)) + abs(total.baseline) + abs(total.others)
        assert total.baseline + sum(added) + total.others == pytest.approx(total.mean, rel=1e-9, abs=1e-9 * size)
        shown = mean_of(name, row)
        if shown is not None:
            assert total.mean == pytest.approx(shown, rel=1e-9, abs=1e-9 * size)
        elif name == "log_gaussian":
            assert row.lower is not None
            assert row.upper is not None
            # The interval of the logarithm lies about its mean.
            assert 0.5 * (math.log(row.lower) + math.log(row.upper)) == pytest.approx(total.mean, rel=1e-9)
        for one in row.explanation:
            weight = vectors[one.vector].weight_mean
            if one.kind == "bias" and weight is not None:
                assert one.contribution == pytest.approx(weight, rel=1e-9)
            elif one.kind == "gaussian" and weight is not None:
                assert abs(one.contribution) <= abs(weight) * (1.0 + 1e-9)
