"""A model for each class is learned, explained, exported and imported over HTTP, and predicts as one."""

import json
import math
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client.errors import ClientError
from relevance_bayes.client.responses import ClassificationJob, Json, SupervisedVersion
from tests.end_to_end.deployment import Api

ROWS = 75
POINTS: dict[str, Json] = {"x": [-1.5, -0.2, 1.4, 9.0], "z": [0.5, -1.0, 0.1, 0.0]}
LABELS = ["gas", "liquid", "solid"]


def table() -> dict[str, list[Json]]:
    """Three bands along x, bent by z."""
    random = Random(5)
    x, z = ([random.uniform(-2, 2) for _ in range(ROWS)] for _ in range(2))
    bands = [a + 0.3 * math.sin(2 * b) + random.gauss(0, 0.2) for a, b in zip(x, z, strict=True)]
    return {"x": [*x], "z": [*z], "y": [LABELS[(band > -0.6) + (band > 0.6)] for band in bands]}


@pytest.fixture
def learned(api: Api) -> SupervisedVersion:
    """Learned once by each of the services."""
    if any(one.name == "states-by-class" for one in api.calls.models()):
        return api.calls.version("states-by-class", 1)
    dataset = api.calls.create_dataset(table(), name="states-by-class")
    likelihood: Json = {"type": "bernoulli_per_class", "temperature": 1.25}
    job = api.train(dataset_id=dataset.id, model="states-by-class", target="y", likelihood=likelihood)
    assert isinstance(job, ClassificationJob)
    assert job.likelihood == {"type": "bernoulli_per_class", "classes": 3, "temperature": 1.25}
    return api.calls.version("states-by-class", 1)


def test_a_version_has_a_member_for_each_class_and_its_temperature(learned: SupervisedVersion) -> None:
    assert [one.label for one in learned.members] == LABELS
    assert sum(one.functions for one in learned.members) == learned.functions
    assert all(one.kernel == {"type": "gaussian"} and one.hyperparameters.widths for one in learned.members)
    assert all((one.hyperparameters.signal_sd or 0.0) > 0.0 for one in learned.members)
    evidences = [one.evidence for one in learned.members if one.evidence is not None]
    assert [one.kind for one in evidences] == ["lower_bound"] * 3
    assert all(one.value < 0.0 for one in evidences)
    assert [(one.weight, one.hyperparameters.noise_sd, one.evidence_unreduced) for one in learned.members] == [
        (None, None, None)
    ] * 3
    assert learned.hyperparameters.temperature == 1.25
    assert learned.evidence is None
    assert learned.hyperparameters.signal_sd is None


def test_relevance_vectors_name_their_member(api: Api, learned: SupervisedVersion) -> None:
    vectors = [*api.calls.relevance_vectors("states-by-class", 1)]
    assert [one.number for one in vectors] == list(range(1, learned.functions + 1))
    for number, member in enumerate(learned.members, 1):
        assert len([one for one in vectors if one.member == number]) == member.functions
    assert all(one.weight_mean is not None for one in vectors)


def test_the_latents_state_the_probabilities_and_explanations_add_up(api: Api, learned: SupervisedVersion) -> None:
    rows = api.calls.predict("states-by-class", {"columns": POINTS}, explain=3).predictions
    for row in rows:
        assert row.probabilities is not None
        assert isinstance(row.latent, tuple)
        assert sum(one.probability for one in row.probabilities) == pytest.approx(1.0)
        assert row.label == max(row.probabilities, key=lambda one: one.probability).label
        assert row.explanation is not None
        total = row.explanation_sum
        assert total is not None
        added = sum(one.contribution for one in row.explanation)
        assert total.baseline + added + total.others == pytest.approx(total.mean, rel=1e-9, abs=1e-9)
        (explained,) = [one.mean for one in row.latent if one.label == row.label]
        assert total.mean == pytest.approx(explained, rel=1e-9, abs=1e-9)
        # Each class has a variance of its own; MacKay's sigmoid is within .02 of its average.
        alone = [1 / (1 + math.exp(-one.mean / math.sqrt(1 + math.pi * one.variance / 8))) for one in row.latent]
        powers = [(p / sum(alone)) ** (1 / 1.25) for p in alone]
        for one, power in zip(row.probabilities, powers, strict=True):
            assert one.probability == pytest.approx(power / sum(powers), abs=0.03)
    assert len({one.variance for one in rows[0].latent if rows[0].latent}) == 3  # type: ignore[union-attr]


def test_an_imported_version_predicts_the_same_to_the_last_bit(
    api: Api, learned: SupervisedVersion, tmp_path: Path
) -> None:
    expected = api.calls.predict("states-by-class", {"columns": POINTS}).predictions
    for form in ("json", "npz"):
        file = tmp_path / f"states.{form}"
        file.write_bytes(api.calls.export("states-by-class", 1, "json" if form == "json" else "npz"))
        name = f"imported-states-{form}"
        api.calls.import_version(file, model=name)
        found = api.calls.predict(name, {"columns": POINTS}).predictions
        assert [one.probabilities for one in found] == [one.probabilities for one in expected]
        again = api.calls.version(name, 1)
        assert again.members == learned.members
        assert again.hyperparameters == learned.hyperparameters


FORGERIES: list[tuple[list[str | int], Json, str]] = [
    (["model", "likelihood", "temperature"], 0.0, "/model/likelihood/temperature"),
    (["model", "likelihood", "classes"], 4, "/model/likelihood/classes"),
    (["model", "members", 0, "likelihood"], {"type": "bernoulli", "temperature": 2.0}, "/model/members/0/likelihood"),
    (["model", "members", 0, "likelihood"], {"type": "poisson"}, "/model/members/0/likelihood"),
    (["model", "members", 0, "noise_sd"], 1.0, "/model/members/0/noise_sd"),
    (["model", "members", 1, "rows"], 7, "/model/members/1/rows"),
    (["model", "members", 1, "gamma", 0], 3.0, "/model/members/1/gamma"),
    (["model", "members"], [], "/model/members"),
    (["target", "classes"], ["gas", "liquid"], "/model/members"),
    (["report", "members", 0, "label"], "solid", "/report/members/0/label"),
    (["report", "members", 0, "weight"], 0.5, "/report/members/0/weight"),
    (["report", "members", 2, "functions"], 1, "/report/members/2/functions"),
    (["report", "temperature"], 3.0, "/report/temperature"),
    (["report", "members", 0, "hyperparameters", "signal_sd"], 99.0, "/report/members/0/hyperparameters/signal_sd"),
    (["report", "plan", "spec", "likelihood"], {"type": "categorical", "classes": 3}, "/report/plan/spec/likelihood"),
]


@pytest.mark.parametrize(("place", "value", "pointer"), FORGERIES)
def test_a_forged_version_is_refused_with_its_place(
    api: Api, learned: SupervisedVersion, tmp_path: Path, place: list[str | int], value: Json, pointer: str
) -> None:
    document = json.loads(api.calls.export("states-by-class", 1, "json"))
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ClientError) as refused:
        api.calls.import_version(file, model="forged-states")
    assert any(str(fault.pointer).startswith(pointer) for fault in refused.value.problem.errors), refused.value
