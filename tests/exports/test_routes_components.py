"""Components of rows as files, out and in."""

import math
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS, Format
from app.identity import BUILT_IN_OWNER
from app.main import make_application
from relevance_bayes.documents.codec import MAX_FUNCTIONS
from tests.applications import SmallParts
from tests.exports.learned import learned
from tests.exports.test_routes import (
    MORE_BYTES,
    REMOVED,
    Json,
    assert_comes_in_as_it_left,
    changed_at,
    exported,
    faults,
    part,
    refused,
)
from tests.small_components import version_of_components

ROWS: Json = {"rows": [{"x": 0.5, "z": -1.0}, {"x": 0.0, "z": 0.0}, {"x": 1e9, "z": 0.0}], "components": 2}


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """With a limit that a document fits, and a version of components, `rows`."""
    parts.stored.put_version(BUILT_IN_OWNER, version_of_components(), number=1)
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


@pytest.mark.parametrize("required", ["json", "npz"])
def test_what_comes_in_reports_the_same_and_states_where_it_was(client: TestClient, required: str) -> None:
    assert_comes_in_as_it_left(client, "rows", required, ROWS)


def test_the_rows_kept_are_listed_without_what_they_were(client: TestClient) -> None:
    assert client.post("/v1/models/twin/versions", json=exported(client, "rows")).status_code == 201
    found = version_of_components().predictor.components
    listed = client.get("/v1/models/twin/versions/1/relevance-vectors").json()["items"]
    assert [vector["weight_mean"] for vector in listed] == found.weights.tolist()
    assert [vector["gamma"] for vector in listed] == found.gamma.tolist()
    assert [vector["alpha"] for vector in listed] == (1.0 / found.weights).tolist()
    assert [(one["kind"], one["row"], one["inputs"]) for one in listed] == [("rational_quadratic", None, None)] * 3


def test_columns_of_every_kind_come_in(client: TestClient) -> None:
    content = RENDERINGS["npz"].render(learned("matern_5_2"))
    response = client.post("/v1/models/mixed/versions", content=content, headers={"Content-Type": "application/x-npz"})
    assert response.status_code == 201, response.text
    assert [column["kind"] for column in response.json()["inputs"]] == [
        *("number", "number", "category", "boolean", "timestamp")
    ]


@pytest.mark.parametrize("form", ["onnx", "python"])
def test_programs_go_out_as_files(client: TestClient, form: Format) -> None:
    response = client.get(f"/v1/models/rows/versions/1/export?format={form}", headers={"Accept": "*/*"})
    assert response.status_code == 200, response.text
    assert len(response.content) > 1_000


def test_variances_are_those_of_the_components_that_came(client: TestClient) -> None:
    """A file from another machine may have other last digits, or contain errors."""
    document = changed_at(exported(client, "rows"), "/report/variances", [7.0])
    response = client.post("/v1/models/twin/versions", json=document)
    assert response.json()["variances"] == list(version_of_components().report.variances)


def test_a_model_with_another_schema_is_left_alone(client: TestClient) -> None:
    refused(client.post("/v1/models/small/versions", json=exported(client, "rows")), "conflict")


ROW = [0.0, 0.0]
INDICATED = {"name": "x", "kind": "number", "shift": 0.0, "scale": 0.5, "fill": None, "indicator": True}
TERMS = [{"input": 0, "share": 0.5}]

FAULTS: list[tuple[str, object, str]] = [
    ("/task", "regression", "/target"),
    ("/target", {}, "/target"),
    ("/inputs", [], "/model/functions/widths"),
    ("/inputs/0", INDICATED, "/model/functions/widths"),
    ("/inputs/0/name", "\n", "/inputs/0/name"),
    ("/inputs/0/name", "z", "/inputs/1/name"),
    ("/inputs/0/scale", 0.0, "/inputs/0/scale"),
    ("/model/functions/type", "bias", "/model/functions/type"),
    ("/model/functions/kernel", {"type": "cubic"}, "/model/functions"),
    ("/model/functions/kernel/power", 0.0, "/model/functions/kernel/power"),
    ("/model/functions/terms", TERMS, "/model/functions"),
    ("/model/functions/widths", [1.0, 2.0, 3.0], "/model/functions/widths"),
    ("/model/functions/widths", [0.0], "/model/functions/widths/0"),
    ("/model/functions/widths", [1e-80], "/model/functions/widths"),
    ("/model/functions/widths", [1e80], "/model/functions/widths"),
    ("/model/functions/skew", [0.1, 0.0], "/model/functions/skew"),
    ("/model/functions/tail", [0.1, 0.0], "/model/functions/tail"),
    ("/model/functions/centres/0/1", -1e80, "/model/functions/centres"),
    ("/model/functions/centres", [], "/model/functions/centres"),
    ("/model/functions/centres", [ROW] * (MAX_FUNCTIONS + 1), "/model/functions/centres"),
    ("/model/functions/centres/1", [0.0], "/model/functions/centres/1"),
    ("/model/weights", [1.0], "/model/weights"),
    ("/model/weights/0", 0.0, "/model/weights/0"),
    ("/model/weights/0", 1e-80, "/model/weights"),
    ("/model/weights/0", 1e80, "/model/weights"),
    ("/model/noise_variance", 0.0, "/model/noise_variance"),
    ("/model/noise_variance", 1e-80, "/model/noise_variance"),
    ("/model/noise_variance", 1e80, "/model/noise_variance"),
    ("/model/log_marginal_likelihood", None, "/model/log_marginal_likelihood"),
    ("/model/log_densities", [], "/model/log_densities"),
    ("/model/log_densities", [1.0, 0.0], "/model/log_densities"),
    ("/model/log_densities/3", "a", "/model/log_densities/3"),
    ("/model/more", 1, "/model/more"),
    ("/report/noise_variance", 0.01, "/report/noise_variance"),
    ("/report/log_marginal_likelihood", 12.5, "/report/log_marginal_likelihood"),
    ("/report/explained_variance", "all", "/report/explained_variance"),
    ("/report/more", 1, "/report"),
    ("/report/plan", 7, "/report/plan"),
    ("/report/plan/kernel", {"type": "gaussian"}, "/report/plan/kernel"),
    ("/report/plan/missing", "drop", "/report/plan/missing"),
    ("/report/plan/widths", [1.0, 2.0, 3.0], "/report/plan/widths"),
    ("/report/plan/widths", [], "/report/plan/widths"),
    ("/report/plan/widths", [-1.0], "/report/plan/widths"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pointer", "value", "named"), FAULTS, ids=[f"{number} {fault[0][1:]}" for number, fault in enumerate(FAULTS)]
)
def test_what_is_wrong_is_stated_with_its_place(client: TestClient, pointer: str, value: object, named: str) -> None:
    response = client.post("/v1/models/twin/versions", json=changed_at(exported(client, "rows"), pointer, value))
    problem = refused(response, "invalid-request")
    assert named in [fault["pointer"] for fault in faults(problem)], problem
    assert client.get("/v1/models/twin").status_code == 404


def test_every_member_is_needed(client: TestClient) -> None:
    document = exported(client, "rows")
    for pointer in [*(f"/{name}" for name in document), *(f"/model/{name}" for name in part(document, "model"))]:
        response = client.post("/v1/models/twin/versions", json=changed_at(document, pointer, REMOVED))
        assert faults(refused(response, "invalid-request"))[0]["pointer"] == pointer


def reported(document: Json, **changes: object) -> Json:
    """With other members of its model."""
    return {**document, "model": {**part(document, "model"), **changes}}


def test_rows_that_are_one_beside_noise_too_small_to_part_them_are_refused(client: TestClient) -> None:
    document = exported(client, "rows")
    functions = {**part(part(document, "model"), "functions"), "centres": [ROW] * 3}
    assert client.post("/v1/models/twin/versions", json=reported(document, functions=functions)).status_code == 201
    alike = reported(document, functions=functions, noise_variance=1e-40)
    problem = refused(client.post("/v1/models/other/versions", json=alike), "invalid-request")
    assert "positive definite" in str(problem["detail"])


def test_what_reads_nothing_is_refused(client: TestClient) -> None:
    document = exported(client, "rows")
    functions = {**part(part(document, "model"), "functions"), "widths": [1.0], "centres": [[]] * 3}
    problem = refused(
        client.post("/v1/models/twin/versions", json={**reported(document, functions=functions), "inputs": []}),
        "invalid-request",
    )
    assert faults(problem)[0]["pointer"] == "/inputs"


def test_the_most_distant_row_has_finite_numbers_by_the_narrowest_kernel_that_comes_in(client: TestClient) -> None:
    document = exported(client, "rows")
    functions = {
        **part(part(document, "model"), "functions"),
        "kernel": {"type": "matern_3_2"},
        "widths": [2e-75],
        "centres": [[1e75, -1e75], [0.0, 0.0]],
    }
    narrow = reported(document, functions=functions, weights=[1e75, 2e-75], noise_variance=2e-75)
    response = client.post("/v1/models/twin/versions", json=narrow)
    assert response.status_code == 201, response.text
    requested = {"rows": [{"x": -4e74, "z": 9e74}, {"x": 5e74, "z": -1e75}, {"x": 0.0, "z": 0.0}]}
    rows = client.post("/v1/models/twin/predict", json=requested).json()["predictions"]
    assert all(math.isfinite(number) for row in rows for name in row for number in numbers(row[name]))
    assert [row["novelty"] for row in rows] == [1.0, 1.0, 1.0]


def numbers(value: float | list[float]) -> list[float]:
    return value if isinstance(value, list) else [value]
