"""Known functions as files, out and in."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS, Format
from app.identity import BUILT_IN_OWNER
from app.main import make_application
from relevance_bayes.tasks.approximation.request import MAX_TERMS
from relevance_bayes.tasks.listing import Learned
from tests.applications import SmallParts
from tests.exports.known import of_terms
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

MADE = of_terms(("x", "z"), 3, constant=0.25)
ROWS: Json = {"rows": [{"x": 0.5, "z": -1.0}, {"x": 1e9, "z": 0.0}]}


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """With a limit that a document fits, and a version of a known function, `terms`."""
    parts.stored.put_version(BUILT_IN_OWNER, Learned(MADE.report, (), MADE.predictor), number=1)
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


@pytest.mark.parametrize("required", ["json", "npz"])
def test_what_comes_in_has_the_same_values_and_states_where_it_was(client: TestClient, required: str) -> None:
    assert_comes_in_as_it_left(client, "terms", required, ROWS)
    first, second = (client.get(f"/v1/models/{name}/versions/1/expansion").json() for name in ("terms", "twin"))
    assert first == second


def test_the_terms_are_listed_without_the_rows_that_they_were(client: TestClient) -> None:
    assert client.post("/v1/models/twin/versions", json=exported(client, "terms")).status_code == 201
    terms = MADE.predictor.expansion
    listed = client.get("/v1/models/twin/versions/1/relevance-vectors").json()["items"]
    assert [vector["weight_mean"] for vector in listed] == terms.coefficients.tolist()
    assert [(vector["kind"], vector["row"], vector["inputs"]) for vector in listed] == [("gaussian", None, None)] * 3
    assert [[one["location"] for one in vector["shape"]] for vector in listed] == terms.centres.tolist()
    assert [[one["scale"] for one in vector["shape"]] for vector in listed] == terms.widths.tolist()
    assert [[one["input"] for one in vector["shape"]] for vector in listed] == [["x", "z"]] * 3


@pytest.mark.parametrize("form", ["onnx", "python"])
def test_programs_go_out_as_files(client: TestClient, form: Format) -> None:
    response = client.get(f"/v1/models/terms/versions/1/export?format={form}", headers={"Accept": "*/*"})
    assert response.status_code == 200, response.text
    assert response.content == RENDERINGS[form].render(MADE)


def test_a_model_with_another_schema_is_left_alone(client: TestClient) -> None:
    document = changed_at(exported(client, "terms"), "/report/plan/coefficients", "other")
    refused(client.post("/v1/models/terms/versions", json=document), "conflict")
    refused(client.post("/v1/models/small/versions", json=document), "conflict")


def test_as_many_terms_come_in_as_may_be_learned_from(parts: SmallParts) -> None:
    content = RENDERINGS["json"].render(of_terms(("x",), MAX_TERMS))
    with TestClient(
        make_application(parts, replace(MORE_BYTES, max_body_bytes=2**21)), base_url="http://localhost"
    ) as client:
        response = client.post(
            "/v1/models/many/versions", content=content, headers={"Content-Type": "application/json"}
        )
        assert response.status_code == 201, response.text


NUMBER = {"name": "x", "kind": "number", "shift": 0.0, "scale": 1.0, "fill": None, "indicator": False}
CATEGORY = {"name": "x", "kind": "category", "categories": ["a", "b"], "fill": None, "indicator": False}

FAULTS: list[tuple[str, object, str]] = [
    ("/task", "regression", "/target"),
    ("/target", {}, "/target"),
    ("/source/version", 0, "/source/version"),
    ("/inputs", [], "/inputs"),
    ("/inputs", [CATEGORY], "/inputs/0"),
    ("/inputs/0", NUMBER | {"fill": 0.0, "indicator": True}, "/model/centres/0"),
    ("/inputs/0/name", "\n", "/inputs/0/name"),
    ("/inputs/0/name", "z", "/inputs/1/name"),
    ("/inputs/0/name", "known", "/inputs/0/name"),
    ("/inputs/0/kind", "boolean", "/inputs/0"),
    ("/inputs/0/shift", 1.0, "/inputs/0"),
    ("/inputs/0/scale", 2.0, "/inputs/0"),
    ("/inputs/0/fill", 0.0, "/inputs/0"),
    ("/model/coefficients", [], "/model/coefficients"),
    ("/model/coefficients", [1.0] * (MAX_TERMS + 1), "/model/coefficients"),
    ("/model/coefficients", [1e308, 1e308, -1e308], "/model/coefficients"),
    ("/model/coefficients/0", "a", "/model/coefficients/0"),
    ("/model/centres", [[0.0, 0.0]], "/model/centres"),
    ("/model/centres/1", [0.0], "/model/centres/1"),
    ("/model/widths", [[1.0, 1.0]], "/model/widths"),
    ("/model/widths/2", [1.0, 1.0, 1.0], "/model/widths/2"),
    ("/model/widths/0/1", 0.0, "/model/widths/0/1"),
    ("/model/constant", None, "/model/constant"),
    ("/model/more", 1, "/model/more"),
    ("/report/functions", 3, "/report/functions"),
    ("/report/more", 1, "/report"),
    ("/report/path", [{"functions": 1}], "/report/path/0/error"),
    ("/report/plan", 7, "/report/plan"),
    ("/report/plan/constant", 0.25, "/report/plan/constant"),
    ("/report/plan/coefficients", "\u0000", "/report/plan/coefficients"),
    ("/report/plan/coefficients", "x", "/inputs/0/name"),
    ("/report/plan/widths", [1.0], "/report/plan/widths"),
    ("/report/plan/widths", [1.0, 0.0], "/report/plan/widths"),
    ("/report/plan/density", True, "/model/coefficients"),
    ("/report/plan/density", True, "/model/constant"),
]


@pytest.mark.parametrize(
    ("pointer", "value", "named"), FAULTS, ids=[f"{number} {fault[0][1:]}" for number, fault in enumerate(FAULTS)]
)
def test_what_is_wrong_is_stated_with_its_place(client: TestClient, pointer: str, value: object, named: str) -> None:
    response = client.post("/v1/models/twin/versions", json=changed_at(exported(client, "terms"), pointer, value))
    problem = refused(response, "invalid-request")
    assert named in [fault["pointer"] for fault in faults(problem)], problem
    assert client.get("/v1/models/twin").status_code == 404


def test_every_member_is_needed(client: TestClient) -> None:
    document = exported(client, "terms")
    for pointer in [*(f"/{name}" for name in document), *(f"/model/{name}" for name in part(document, "model"))]:
        response = client.post("/v1/models/twin/versions", json=changed_at(document, pointer, REMOVED))
        assert faults(refused(response, "invalid-request"))[0]["pointer"] == pointer


def test_a_name_that_no_model_may_have_is_refused(client: TestClient) -> None:
    refused(client.post("/v1/models/Terms/versions", json=exported(client, "terms")), "invalid-request")
