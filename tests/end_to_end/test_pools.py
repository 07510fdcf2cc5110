"""Several processes are learned together, judged by folds, and predict as one over HTTP and in another service."""

import json
import math
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client.errors import ClientError
from relevance_bayes.client.responses import Json, RegressionJob, SupervisedVersion
from tests.end_to_end.deployment import Api

ROWS = 90
POINTS: dict[str, Json] = {"x": [-1.5, -0.2, 0.4, 9.0], "z": [0.5, -1.0, 0.1, 0.0]}


def table() -> dict[str, list[Json]]:
    """A kink, a step and a trend: neither a smooth process nor a rough one alone is right."""
    random = Random(5)
    x, z = ([random.uniform(-2, 2) for _ in range(ROWS)] for _ in range(2))
    y = [
        300.0 + 40.0 * (abs(a) + 0.5 * b + (0.7 if b > 0.3 else 0.0) + math.sin(3 * a) * 0.3 + random.gauss(0, 0.1))
        for a, b in zip(x, z, strict=True)
    ]
    return {"x": [*x], "z": [*z], "y": [*y]}


@pytest.fixture
def pooled(api: Api) -> SupervisedVersion:
    """Learned once by each of the services."""
    if any(one.name == "pooled" for one in api.calls.models()):
        return api.calls.version("pooled", 1)
    dataset = api.calls.create_dataset(table(), name="pooled")
    job = api.train(dataset_id=dataset.id, model="pooled", target="y", effort="normal")
    assert isinstance(job, RegressionJob)
    assert job.effort == "normal"
    assert [one["kernel"] for one in job.pool] == [{"type": "matern_3_2"}, {"type": "gaussian"}, {"type": "gaussian"}]
    return api.calls.version("pooled", 1)


def test_a_version_reports_its_members_what_was_compared_and_its_score(pooled: SupervisedVersion) -> None:
    assert len(pooled.members) >= 2
    assert sum(member.weight or 0.0 for member in pooled.members) == pytest.approx(1.0)
    assert sum(member.functions for member in pooled.members) == pooled.functions
    assert all(30.0 > (one.hyperparameters.noise_sd or 0.0) > 0.5 for one in pooled.members)
    assert pooled.evidence is None
    assert pooled.hyperparameters.noise_sd is None
    assert len(pooled.members) + len(pooled.alternatives) == 7
    assert {None if one.evidence is None else one.evidence.kind for one in pooled.members} == {"lower_bound"}
    assert {one.evidence_unreduced.kind for one in pooled.members if one.evidence_unreduced} == {"exact"}
    assert pooled.score_loss is not None
    score = pooled.metrics["validation"]
    assert score["rows"] == ROWS
    assert score["nll_se"] > 0.0
    # In the target's units: the pool is not clearly worse than its best member by the same rows.
    scores = [*(one.score for one in pooled.members), *(one.score for one in pooled.alternatives)]
    best = max(score for score in scores if score is not None)
    assert -score["nll"] > best - 2.0 * score["nll_se"]


def test_relevance_vectors_name_their_member(api: Api, pooled: SupervisedVersion) -> None:
    vectors = [*api.calls.relevance_vectors("pooled", 1)]
    assert [one.number for one in vectors] == list(range(1, pooled.functions + 1))
    for number, member in enumerate(pooled.members, 1):
        own = [one for one in vectors if one.member == number]
        assert len(own) == member.functions
        assert member.kernel is not None
        assert {one.kind for one in own} <= {str(member.kernel["type"]), "bias", "input"}


def test_predictions_explanations_and_covariances_are_of_the_whole(api: Api, pooled: SupervisedVersion) -> None:
    rows = api.calls.predict("pooled", {"columns": POINTS}, explain=3).predictions
    for row in rows:
        assert row.explanation is not None
        total = row.explanation_sum
        assert total is not None
        added = sum(one.contribution for one in row.explanation)
        assert total.baseline + added + total.others == pytest.approx(total.mean, rel=1e-9)
        assert total.mean == pytest.approx(row.mean, rel=1e-9)
        assert 1 <= min(one.vector for one in row.explanation) <= pooled.functions
    *near, far = rows
    assert far.sd is not None
    assert all(one.sd is not None and far.sd > one.sd for one in near)


def test_an_imported_pool_predicts_the_same_to_the_last_bit(
    api: Api, pooled: SupervisedVersion, tmp_path: Path
) -> None:
    expected = api.calls.predict("pooled", {"columns": POINTS}, explain=2).predictions
    for form in ("json", "npz"):
        file = tmp_path / f"pooled.{form}"
        file.write_bytes(api.calls.export("pooled", 1, "json" if form == "json" else "npz"))
        name = f"imported-pool-{form}"
        api.calls.import_version(file, model=name)
        assert api.calls.predict(name, {"columns": POINTS}).predictions[0].mean == expected[0].mean
        again = api.calls.version(name, 1)
        assert again.members == pooled.members
        assert again.metrics == pooled.metrics
        assert {one.member for one in api.calls.relevance_vectors(name, 1)} == set(range(1, len(pooled.members) + 1))


FORGERIES: list[tuple[list[str | int], Json, str]] = [
    (["model", "weights"], [0.5, 0.2, 0.1, 0.1], "/model/weights"),
    (["model", "members", 0, "noise_sd"], 0.0, "/model/members/0/noise_sd"),
    (["model", "members", 1, "rows"], 7, "/model/members/1/rows"),
    (["model", "members", 1, "gamma", 0], 3.0, "/model/members/1/gamma"),
    (["model", "members", 0, "jitter"], -1.0, "/model/members/0/jitter"),
    (["report", "members", 0, "weight"], 0.9, "/report/members/0/weight"),
    (["report", "members", 0, "functions"], 1, "/report/members/0/functions"),
    (
        ["report", "members", 1, "hyperparameters", "widths", 0, "width"],
        77.0,
        "/report/members/1/hyperparameters/widths/0/width",
    ),
    (["report", "members", 0, "hyperparameters", "noise_sd"], 99.0, "/report/members/0/hyperparameters/noise_sd"),
    (["report", "metrics", "validation", "nll_se"], -1.0, "/report/metrics/validation/nll_se"),
]


@pytest.mark.parametrize(("place", "value", "pointer"), FORGERIES, ids=[pointer for _, _, pointer in FORGERIES])
def test_a_forged_pool_is_refused_with_its_place(
    api: Api, pooled: SupervisedVersion, tmp_path: Path, place: list[str | int], value: Json, pointer: str
) -> None:
    document = json.loads(api.calls.export("pooled", 1, "json"))
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ClientError) as refused:
        api.calls.import_version(file, model="forged-pool")
    assert any(str(fault.pointer).startswith(pointer) for fault in refused.value.problem.errors), refused.value
