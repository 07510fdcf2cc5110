"""A version that predicts from the rows nearest to each: trained, predicted with, exported and imported over HTTP."""

import json
import math
from pathlib import Path
from random import Random

import pytest

from relevance_bayes.client.errors import ClientError
from relevance_bayes.client.responses import Json, RegressionJob, SupervisedVersion
from relevance_bayes.records.json import encode
from tests.end_to_end.deployment import Api

ROWS = 300
POINTS: dict[str, Json] = {"x": [-1.5, -0.2, 0.4, 60.0], "z": [0.5, -1.0, 0.1, 0.0]}


def hills(rows: int, seed: int) -> dict[str, list[Json]]:
    """Many hills and a trend."""
    random = Random(seed)
    x, z = ([random.uniform(-2, 2) for _ in range(rows)] for _ in range(2))
    y = [
        300.0 + 40.0 * (math.sin(4 * a) * math.cos(4 * b) + a + random.gauss(0, 0.1)) for a, b in zip(x, z, strict=True)
    ]
    return {"x": [*x], "z": [*z], "y": [*y]}


@pytest.fixture
def local(api: Api) -> SupervisedVersion:
    """Learned once by each of the services: of the residuals of a small sparse model."""
    if any(one.name == "local" for one in api.calls.models()):
        return api.calls.version("local", 1)
    dataset = api.calls.create_dataset(hills(ROWS, 5), name="local")
    job = api.train(
        dataset_id=dataset.id,
        model="local",
        target="y",
        effort="quick",
        basis={"type": "kernel", "kernel": {"type": "matern_5_2"}, "warp": "none"},
        prior={"type": "gaussian_process", "max_functions": 8},
        local={"type": "neighbours", "neighbours": 40, "on": "residuals"},
    )
    assert isinstance(job, RegressionJob)
    assert encode(job.local) == {
        "neighbours": 40,
        "on": "residuals",
        "kernels": ["matern_5_2"],
        "required": True,
        "rows": ROWS,
        "bytes": 8 * ROWS * 3,
    }
    return api.calls.version("local", 1)


def test_a_version_reports_what_was_compared_and_what_it_keeps(local: SupervisedVersion) -> None:
    found = local.local
    assert found is not None
    assert (found.on, found.neighbours, found.rows, found.bytes, found.rows_apart) == (
        "residuals",
        40,
        ROWS,
        8 * ROWS * 3,
        60,
    )
    (candidate,) = found.candidates
    assert (candidate.kernel, candidate.reason) == ("matern_5_2", None)
    assert local.score is not None
    assert candidate.score == pytest.approx(local.score.value)
    assert found.sparse_score is not None
    assert found.linear_score is None  # of the targets, of which no process was learned
    assert (candidate.score or 0.0) > found.sparse_score + 1.0
    (member,) = local.members
    assert (member.kernel, member.weight, member.evidence) == ({"type": "matern_5_2"}, 1.0, None)
    assert [one.input for one in member.hyperparameters.widths] == ["x", "z"]
    assert 2.0 < (member.hyperparameters.noise_sd or 0.0) < 10.0
    assert local.metrics["validation"]["rows"] == 60
    assert local.metrics["validation"]["rmse"] < 15.0


def test_it_predicts_new_rows_and_knows_where_there_are_none(api: Api, local: SupervisedVersion) -> None:
    fresh = hills(100, 6)
    targets = [float(str(one)) for one in fresh.pop("y")]
    rows = api.calls.predict("local", {"columns": {**fresh}}).predictions
    errors = [(one.mean or 0.0) - target for one, target in zip(rows, targets, strict=True)]
    assert math.sqrt(sum(error * error for error in errors) / 100) < 15.0
    inside = [(one.lower or 0.0) <= target <= (one.upper or 0.0) for one, target in zip(rows, targets, strict=True)]
    assert sum(inside) >= 85
    *near, far = api.calls.predict("local", {"columns": POINTS}).predictions
    assert all((one.sd or 0.0) < (far.sd or 0.0) for one in near)
    assert all((one.support or 0.0) > (far.support or 0.0) for one in near)


def test_its_functions_are_those_of_the_sparse_model_and_explanations_add_up(
    api: Api, local: SupervisedVersion
) -> None:
    vectors = [*api.calls.relevance_vectors("local", 1)]
    assert len(vectors) == local.functions == local.members[0].functions > 0
    for row in api.calls.predict("local", {"columns": POINTS}, explain=3).predictions:
        assert row.explanation is not None
        assert row.explanation_sum is not None
        total = row.explanation_sum
        added = sum(one.contribution for one in row.explanation)
        assert total.baseline + added + total.others == pytest.approx(row.mean, rel=1e-9)


def test_there_is_no_covariance_and_no_program_of_it(api: Api, local: SupervisedVersion) -> None:
    with pytest.raises(ClientError, match="has its own neighbours") as refused:
        api.calls.predict("local", {"columns": POINTS}, covariance=True)
    assert refused.value.problem.status == 422
    for form in ("onnx", "python"):
        with pytest.raises(ClientError, match="predict from nearest rows") as conflict:
            api.calls.export("local", 1, "onnx" if form == "onnx" else "python")
        assert conflict.value.problem.status == 409


def test_imported_it_predicts_the_same(api: Api, local: SupervisedVersion, tmp_path: Path) -> None:
    expected = api.calls.predict("local", {"columns": POINTS}).predictions
    for form in ("json", "npz"):
        file = tmp_path / f"local.{form}"
        file.write_bytes(api.calls.export("local", 1, "json" if form == "json" else "npz"))
        name = f"imported-local-{form}"
        api.calls.import_version(file, model=name)
        again = api.calls.predict(name, {"columns": POINTS}).predictions
        assert [one.mean for one in again] == [one.mean for one in expected]
        assert [one.sd for one in again] == [one.sd for one in expected]
        version = api.calls.version(name, 1)
        assert (version.members, version.local) == (local.members, local.local)


FORGERIES: list[tuple[list[str | int], Json, str]] = [
    (["model", "kernel"], {"type": "cauchy"}, "/model/kernel"),
    (["model", "widths"], [1.0], "/model/widths"),
    (["model", "neighbours"], 0, "/model/neighbours"),
    (["model", "neighbours"], 2**40, "/model/neighbours"),
    (["model", "noise_sd"], 0.0, "/model/noise_sd"),
    (["model", "alpha"], [1.0], "/model/alpha"),
    (["model", "rows", 0, "targets"], [1.0], "/model/rows/0/targets"),
    (["model", "rows"], [], "/model/rows"),
    (["model", "likelihood"], {"type": "gaussian", "noise_sd": "heteroscedastic"}, "/model/likelihood/noise_sd"),
    (["model", "trend", "gamma", 0], 3.0, "/model/trend/gamma/0"),
    (["report", "members", 0, "functions"], 99, "/report/members/0/functions"),
    (["report", "members", 0, "hyperparameters", "noise_sd"], 99.0, "/report/members/0/hyperparameters/noise_sd"),
    (["report", "local"], None, "/report/local"),
]


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    FORGERIES,
    ids=[f"{place}: {pointer}" for place, (_, _, pointer) in enumerate(FORGERIES)],
)
def test_what_does_not_go_together_is_refused_where_it_is(
    api: Api, local: SupervisedVersion, tmp_path: Path, path: list[str | int], value: Json, pointer: str
) -> None:
    document = json.loads(api.calls.export("local", 1, "json"))
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ClientError) as refused:
        api.calls.import_version(file, model="forged")
    assert refused.value.problem.status == 422
    assert pointer in {error.pointer for error in refused.value.problem.errors}
