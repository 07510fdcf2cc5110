"""Three classes, from a table to predictions on both databases."""

from random import Random

import pytest

from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api

Points = list[tuple[float, float]]
CENTRES = {"gas": [(0.0, 0.0)], "liquid": [(3.0, 0.0), (-3.0, 0.0)], "solid": [(0.0, 3.0), (0.0, -3.0)]}
"""No straight lines divide them."""

FIRST: Points = [centres[0] for centres in CENTRES.values()]
NUMBERED = {"gas": 1, "liquid": 2, "solid": 7}


def drawn(rows: int, *, seed: int) -> tuple[Points, list[str]]:
    """Points about the centres of three classes, and of which class each is."""
    random = Random(seed)
    states = [random.choice(list(CENTRES)) for _ in range(rows)]
    centres = [random.choice(CENTRES[state]) for state in states]
    return [(x + random.gauss(0, 0.7), y + random.gauss(0, 0.7)) for x, y in centres], states


def columns(points: Points) -> dict[str, list[Json]]:
    return {"x": [x for x, _ in points], "y": [y for _, y in points]}


@pytest.mark.thorough
def test_folds_choose_how_three_texts_are_distinguished_and_measure_it(api: Api) -> None:
    points, states = drawn(120, seed=1)
    dataset = api.calls.create_dataset({**columns(points), "state": list[Json](states)}, name="judged")
    job = api.train(dataset_id=dataset.id, target="state", holdout=0.25, effort="normal")
    assert job.likelihood == {"type": "bernoulli_per_class", "classes": 3, "temperature": "learned"}
    assert (job.compared_models, len(job.alternatives)) == ((), 3)
    version = api.calls.version("judged", 1)
    assert [member.label for member in version.members] == list(version.classes) == ["gas", "liquid", "solid"]
    assert [one.kind for one in version.alternatives] == ["fold_log_density"] * 3
    measured = version.metrics["validation"]
    assert all(one.score is None or one.score <= -measured["log_loss"] for one in version.alternatives)
    assert all((one.score is None) == (one.reason is not None) for one in version.alternatives)
    assert measured["rows"] == version.rows
    assert abs(measured["log_loss"] - version.metrics["holdout"]["log_loss"]) < 0.3
    assert version.score is not None
    assert version.score.value == pytest.approx(-measured["log_loss"])
    assert version.score.standard_error == pytest.approx(measured["log_loss_se"])
    assert measured["error"] < 0.1


def test_three_texts_are_distinguished_together(api: Api) -> None:
    points, states = drawn(120, seed=1)
    dataset = api.calls.create_dataset({**columns(points), "state": list[Json](states)}, name="states")
    job = api.train(dataset_id=dataset.id, target="state", holdout=0.25, likelihood={"type": "categorical"})
    assert (job.task, job.classes) == ("classification", ("gas", "liquid", "solid"))
    assert job.likelihood == {"type": "categorical", "classes": 3, "temperature": "learned"}
    assert (job.compared_models, job.alternatives) == ((), ())
    version = api.calls.version("states", 1)
    assert version.classes == job.classes
    assert set(version.metrics["holdout"]) == {"error", "log_loss", "brier"}
    assert version.metrics["holdout"]["error"] < 0.1
    assert (version.hyperparameters.noise_sd, version.outliers, version.integrated_evidence) == (None, (), None)

    vectors = list(api.calls.relevance_vectors("states", 1, sort="weight"))
    assert len(vectors) == version.functions
    sizes = []
    for vector in vectors:
        assert vector.weight_mean is None
        assert tuple(weight.label for weight in vector.weight_means) == version.classes
        sizes.append(max(abs(weight.mean) for weight in vector.weight_means))
    assert sizes == sorted(sizes, reverse=True)

    points, states = drawn(200, seed=2)
    rows = api.calls.predict("states", {"columns": dict[str, Json](columns(points))}, explain=len(vectors)).predictions
    assert sum(row.label == state for row, state in zip(rows, states, strict=True)) > 0.9 * len(states)
    for row in rows:
        assert row.probabilities is not None
        assert tuple(one.label for one in row.probabilities) == version.classes
        assert sum(one.probability for one in row.probabilities) == pytest.approx(1.0, abs=1e-12)
        assert row.label == max(row.probabilities, key=lambda one: one.probability).label
        assert isinstance(row.latent, tuple)
        assert len({one.variance for one in row.latent}) == 1
        (of_label,) = (one.mean for one in row.latent if one.label == row.label)
        assert row.explanation is not None
        assert sum(one.contribution for one in row.explanation) == pytest.approx(of_label)
    (far,) = api.calls.predict("states", {"columns": {"x": [1e4], "y": [1e4]}}).predictions
    assert far.support == pytest.approx(0.0, abs=1e-6)

    few: dict[str, Json] = {**columns(points[:3])}
    never_seen = api.calls.predict("states", {"columns": {**few, "state": ["plasma", None, "gas"]}})
    assert never_seen.predictions == api.calls.predict("states", {"columns": few}).predictions


@pytest.mark.parametrize(
    ("likelihood", "left_out"), [("categorical", set()), ("one_against_rest", {"error", "log_loss"})]
)
def test_classes_are_distinguished_under_independent_weights_too(api: Api, likelihood: str, left_out: set[str]) -> None:
    points, states = drawn(80, seed=5)
    name = f"independent-{likelihood}"
    dataset = api.calls.create_dataset({**columns(points), "state": list[Json](states)}, name=name)
    job = api.train(
        dataset_id=dataset.id,
        target="state",
        likelihood={"type": likelihood},
        prior={"type": "independent"},
        basis={"type": "kernel", "width": {"type": "fixed", "value": 2.0}},
        holdout=0.25,
    )
    assert (job.likelihood["type"], job.likelihood["classes"], job.compared_models) == (likelihood, 3, ())
    assert (job.prior["type"], job.algorithm["type"]) == ("independent", "sequential")
    version = api.calls.version(name, 1)
    assert version.metrics["holdout"]["error"] <= 0.15
    assert set(version.metrics.get("leave_one_out", {})) == left_out
    assert version.integrated_evidence is None
    assert 0 < version.functions < 30

    vectors = list(api.calls.relevance_vectors(name, 1, sort="weight"))
    assert all(len(vector.weight_means) == 3 and vector.weight_mean is None for vector in vectors)
    points, states = drawn(200, seed=6)
    rows = api.calls.predict(name, {"columns": dict[str, Json](columns(points))}, explain=version.functions).predictions
    assert sum(row.label == state for row, state in zip(rows, states, strict=True)) > 0.9 * len(states)
    for row in rows:
        assert row.probabilities is not None
        assert sum(one.probability for one in row.probabilities) == pytest.approx(1.0, abs=1e-12)
        assert isinstance(row.latent, tuple)
        (of_label,) = (one.mean for one in row.latent if one.label == row.label)
        assert row.explanation is not None
        assert sum(one.contribution for one in row.explanation) == pytest.approx(of_label)


def test_whole_numbers_are_classes_where_that_is_requested(api: Api) -> None:
    points, states = drawn(60, seed=3)
    numbers: list[Json] = [NUMBERED[state] for state in states]
    dataset = api.calls.create_dataset({**columns(points), "state": numbers}, name="numbered")
    basis: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}
    job = api.train(dataset_id=dataset.id, target="state", task="classification", basis=basis, validation={"folds": 3})
    assert job.classes == (1, 2, 7)
    measured = api.calls.version("numbered", 1).metrics["validation"]
    assert measured["rows"] == 60
    assert measured["error"] < 0.15
    rows = api.calls.predict("numbered", {"columns": dict[str, Json](columns(FIRST))}).predictions
    assert [row.label for row in rows] == [1, 2, 7]


def test_two_classes_may_have_a_latent_each(api: Api) -> None:
    points, states = drawn(60, seed=4)
    gas: list[Json] = [state == "gas" for state in states]
    dataset = api.calls.create_dataset({**columns(points), "gas": gas}, name="gas")
    basis: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}
    job = api.train(dataset_id=dataset.id, target="gas", likelihood={"type": "categorical"}, basis=basis)
    likelihood = {"type": "categorical", "classes": 2, "temperature": "learned"}
    assert (job.classes, job.likelihood) == ((False, True), likelihood)
    rows = api.calls.predict("gas", {"columns": dict[str, Json](columns(FIRST))}).predictions
    assert [row.label for row in rows] == [True, False, False]
    for row in rows:
        assert isinstance(row.latent, tuple)
        assert [one.label for one in row.latent] == [False, True]
