"""Integers in JSON bodies: 3.0 is one, 3.5 and "3" are none."""

import json

import pytest
from pydantic import BaseModel, TypeAdapter
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS
from app.http.bodies import read_strictly
from app.identity import BUILT_IN_OWNER
from app.main import make_application
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import as_integer
from tests.applications import SmallParts
from tests.exports.test_routes import MORE_BYTES, changed_at
from tests.exports.trained import trained
from tests.small_models import version_of_numbers


class Part(BaseModel):
    """One of a list of objects."""

    place: int


class Counted(BaseModel):
    """Integers as they are in requests."""

    many: int
    version: int | str
    each: list[int] = []
    labels: list[int | float | bool | str] = []
    parts: list[Part] = []


CSV = {"Content-Type": "text/csv"}
INTEGERS = ("/source/version", "/model/rows", "/report/rows", "/report/plan/spec/seed", "/report/class_rows/0/rows")

COUNTED = TypeAdapter(Counted)


def read(**members: object) -> Counted:
    return read_strictly(COUNTED, json.dumps(members).encode())


def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    found = read(many=3.0, version=-2.0, each=[1.0, 2, 3.0], labels=[1.0])
    assert found.model_dump_json() == '{"many":3,"version":-2,"each":[1,2,3],"labels":[1.0],"parts":[]}'
    assert read_strictly(COUNTED, b'{"many": 3e2, "version": "a"}').many == 300


def test_integers_in_each_of_many_objects_may_be_written_so() -> None:
    found = read(many=1, version=1, parts=[{"place": float(place)} for place in range(500)])
    assert [part.place for part in found.parts] == [*range(500)]


@pytest.mark.parametrize("value", [3.5, "3", "3.0", True, None, 1e300, [3.0]])
def test_what_is_no_whole_number_stays_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read(many=value, version=1)
    assert [fault.pointer for fault in refused.value.faults] == ["/many"]


def test_what_else_is_wrong_is_named_as_it_was_sent() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read(many=3.0, version=2.5, each=[1.0, 0.5])
    assert {fault.pointer for fault in refused.value.faults} == {"/version", "/each/1"}


@pytest.mark.parametrize("value", [True, "3.0", float("inf"), float("nan"), 2.5, None, 1e300])
def test_nothing_but_a_whole_number_is_changed(value: object) -> None:
    assert as_integer(value) is value


def test_requests_predictions_and_tensors_accept_them(parts: SmallParts) -> None:
    parts.stored.put_version(BUILT_IN_OWNER, version_of_numbers(), number=1)
    rows = {"rows": [{"x": 1.0, "a": 0.0, "b": 0.0}]}
    tensors = [{"name": name, "datatype": "FP64", "shape": [1.0], "data": [0.5]} for name in ("x", "a", "b")]
    with TestClient(make_application(parts, MORE_BYTES), base_url="http://localhost") as client:
        predicted = client.post("/v1/models/numbers/predict", json={**rows, "explain": 1.0})
        assert predicted.status_code == 200, predicted.text
        refused = client.post("/v1/models/numbers/predict", json={**rows, "explain": 1.5})
        assert refused.json()["errors"][0]["pointer"] == "/explain"
        assert client.put("/v1/models/numbers/aliases/best", json={"version": 1.0}).json()["version"] == 1
        inferred = client.post("/v2/models/numbers/infer", json={"inputs": tensors})
        assert inferred.status_code == 200, inferred.text
        for shape in ([1.5], ["1"], [True]):
            wrong = [{**one, "shape": shape} for one in tensors]
            assert client.post("/v2/models/numbers/infer", json={"inputs": wrong}).status_code == 400


def test_an_integer_in_a_query_is_written_in_digits(parts: SmallParts) -> None:
    parts.stored.put_version(BUILT_IN_OWNER, version_of_numbers(), number=1)
    with TestClient(make_application(parts, MORE_BYTES), base_url="http://localhost") as client:
        for text, status in (("1", 200), ("1.0", 422)):
            response = client.post(
                f"/v1/models/numbers/predict?explain={text}",
                content=b"x,a,b\n1,2,3\n",
                headers=CSV,
            )
            assert response.status_code == status, response.text


def test_documents_accept_them_in_the_model_and_in_the_report(parts: SmallParts) -> None:
    document = json.loads(RENDERINGS["json"].render(trained("steps of classes")))
    for pointer in INTEGERS:
        steps = pointer.strip("/").split("/")
        value: object = document
        for step in steps:
            value = value[int(step)] if isinstance(value, list) else value[step] if isinstance(value, dict) else None
        assert isinstance(value, int)
        document = changed_at(document, pointer, float(value))
    with TestClient(make_application(parts, MORE_BYTES), base_url="http://localhost") as client:
        assert client.post("/v1/models/twin/versions", json=document).status_code == 201
        halved = changed_at(document, "/report/rows", 20.5)
        refused = client.post("/v1/models/twin/versions", json=halved)
        assert [one["pointer"] for one in refused.json()["errors"]] == ["/report/rows"]
