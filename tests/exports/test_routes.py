"""Versions as files, out and in."""

import copy
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import get_args

import httpx2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS, Format
from app.identity import BUILT_IN_OWNER
from app.main import make_application
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.records.errors import NotFoundError
from tests.applications import LIMITS, SmallParts
from tests.exports.known import KNOWN
from tests.exports.learned import learned
from tests.exports.trained import trained
from tests.problems import TITLES
from tests.properties import examples
from tests.small_image import version_of_an_image
from tests.small_models import version_of_three_classes

Json = dict[str, object]

MORE_BYTES = replace(LIMITS, max_body_bytes=2**20)
ROWS = {"rows": [{"x": 1.5, "colour": "red"}, {"x": -2.0, "colour": "blue"}]}


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    """With a limit that a document fits."""
    with TestClient(
        make_application(parts, MORE_BYTES), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


def refused(response: httpx2.Response, slug: str) -> Json:
    """The problem that an answer is."""
    problem: Json = response.json()
    assert (problem["type"], response.status_code) == (f"/problems/{slug}", TITLES[slug][0]), problem
    return problem


def kept(client: TestClient, name: str) -> ExportedSupervised:
    """The version, by way of its document."""
    made = version_of(DOCUMENT.validate_json(client.get(f"/v1/models/{name}/versions/1/export").content))
    assert isinstance(made, ExportedSupervised)
    return made


def faults(problem: Json) -> list[Json]:
    """The errors, each with its place."""
    errors = problem["errors"]
    assert isinstance(errors, list)
    return errors


def exported(client: TestClient, name: str = "small") -> Json:
    response = client.get(f"/v1/models/{name}/versions/1/export")
    assert response.status_code == 200, response.text
    reported: Json = response.json()
    return reported


def assert_comes_in_as_it_left(client: TestClient, name: str, required: str, requested: Json) -> None:
    """As `twin`: with the same figures, the same predictions to the last bit, and where it was."""
    out = client.get(f"/v1/models/{name}/versions/1/export?format={required}", headers={"Accept": "*/*"})
    assert out.headers["Content-Disposition"] == f'attachment; filename="{name}-1.{required}"'
    response = client.post(
        "/v1/models/twin/versions", content=out.content, headers={"Content-Type": out.headers["Content-Type"]}
    )
    assert response.status_code == 201, response.text
    made, before = response.json(), client.get(f"/v1/models/{name}/versions/1").json()
    assert made["imported"] == {"model": name, "version": 1, "digest": out.headers["ETag"].strip('"')}
    assert (made["model"], made["job_id"], before["imported"]) == ("twin", None, None)
    for member in made.keys() - {"model", "imported", "created_at"}:
        assert made[member] == before[member], member
    assert client.get("/v1/models/twin/versions/1/lineage").json()["imported"] == made["imported"]
    first, second = (client.post(f"/v1/models/{each}/predict", json=requested).json() for each in (name, "twin"))
    assert first["predictions"]
    assert second["predictions"] == first["predictions"]
    again = client.post("/v1/models/twin/versions", json=exported(client, name))
    assert again.headers["Location"] == "/v1/models/twin/versions/2"


def test_a_version_goes_out_under_a_strong_tag(client: TestClient) -> None:
    response = client.get("/v1/models/small/versions/1/export")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Content-Disposition"] == 'attachment; filename="small-1.json"'
    assert response.headers["Cache-Control"] == "private, no-cache"
    tag = response.headers["ETag"]
    assert tag == f'"{hashlib.sha256(response.content).hexdigest()}"'
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = client.get("/v1/models/small/versions/1/export", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    other = client.get("/v1/models/small/versions/1/export", headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, response.content)


def test_an_archive_goes_out_as_what_it_is(client: TestClient) -> None:
    response = client.get("/v1/models/small/versions/1/export?format=npz", headers={"Accept": "application/x-npz"})
    assert response.headers["Content-Type"] == "application/x-npz"
    assert response.headers["Content-Disposition"] == 'attachment; filename="small-1.npz"'
    with np.load(io.BytesIO(response.content)) as opened:
        assert opened["model/mean"].tolist() == [1.0, -2.0, 0.5]


@pytest.mark.parametrize(
    ("form", "media_type", "ending"), [("onnx", "application/x-onnx", "onnx"), ("python", "text/x-python", "py")]
)
def test_programs_go_out_as_files(client: TestClient, form: str, media_type: str, ending: str) -> None:
    response = client.get(f"/v1/models/classes/versions/1/export?format={form}", headers={"Accept": "*/*"})
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"].partition(";")[0] == media_type
    assert response.headers["Content-Disposition"] == f'attachment; filename="classes-1.{ending}"'
    assert response.content == RENDERINGS["onnx" if form == "onnx" else "python"].render(kept(client, "classes"))


def test_onnx_is_stated_to_be_missing_where_it_is(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for name in [name for name in sys.modules if name.startswith("app.exports.onnx_file.")]:
        monkeypatch.delitem(sys.modules, name)
    response = client.get("/v1/models/small/versions/1/export?format=onnx", headers={"Accept": "*/*"})
    assert "pip install ./library '.[onnx]'" in str(refused(response, "not-installed")["detail"])


def test_what_can_not_go_out_is_a_problem(client: TestClient, parts: SmallParts) -> None:
    refused(client.get("/v1/models/none/versions/1/export"), "not-found")
    refused(client.get("/v1/models/small/versions/2/export"), "not-found")
    refused(client.get("/v1/models/small/versions/1/export?format=pmml"), "invalid-request")
    unwanted = client.get("/v1/models/small/versions/1/export?format=npz", headers={"Accept": "application/json"})
    refused(unwanted, "not-acceptable")
    parts.stored.put_version(BUILT_IN_OWNER, version_of_an_image(), number=1)
    for form in get_args(Format):
        unwritten = client.get(f"/v1/models/spot/versions/1/export?format={form}", headers={"Accept": "*/*"})
        named = re.findall(r"`([a-z-]+)`", str(refused(unwritten, "conflict")["detail"]))
        assert named == ["image", "relevance-vectors"]
        for path in named:
            assert client.get(f"/v1/models/spot/versions/1/{path}", headers={"Accept": "*/*"}).status_code == 200
    document = changed_at(exported(client), "/task", "image")
    refused(client.post("/v1/models/twin/versions", json=document), "invalid-request")


@pytest.mark.parametrize("name", ["small", "classes"])
@pytest.mark.parametrize("required", ["json", "npz"])
def test_what_comes_in_predicts_as_it_did_and_states_where_it_was(client: TestClient, name: str, required: str) -> None:
    out = client.get(f"/v1/models/{name}/versions/1/export?format={required}", headers={"Accept": "*/*"})
    response = client.post(
        "/v1/models/twin/versions", content=out.content, headers={"Content-Type": out.headers["Content-Type"]}
    )
    assert response.status_code == 201, response.text
    assert response.headers["Location"] == "/v1/models/twin/versions/1"
    made = response.json()
    assert made["imported"] == {"model": name, "version": 1, "digest": out.headers["ETag"].strip('"')}
    assert (made["model"], made["version"], made["job_id"]) == ("twin", 1, None)
    before = client.get(f"/v1/models/{name}/versions/1").json()
    assert before["imported"] is None
    for member in made.keys() - {"model", "version", "job_id", "imported", "created_at"}:
        assert made[member] == before[member], member
    assert client.get("/v1/models/twin/versions/1").json() == made
    lineage = client.get("/v1/models/twin/versions/1/lineage").json()
    assert (lineage["imported"], lineage["job_id"], lineage["request"]) == (made["imported"], None, None)
    wished = {**ROWS, "explain": 2}
    first, second = (client.post(f"/v1/models/{one}/predict", json=wished).json() for one in (name, "twin"))
    stripped = [{**row, "explanation": None} for row in second["predictions"]]
    assert stripped == [{**row, "explanation": None} for row in first["predictions"]]
    vectors = client.get("/v1/models/twin/versions/1/relevance-vectors").json()["items"]
    assert [vector["kind"] for vector in vectors] == ["gaussian", "gaussian", "bias"]
    assert {vector["row"] for vector in vectors} == {None}


def test_it_becomes_the_next_version_of_a_model_with_the_same_schema(client: TestClient) -> None:
    document = exported(client)
    response = client.post("/v1/models/small/versions", json=document)
    assert (response.status_code, response.headers["Location"]) == (201, "/v1/models/small/versions/2")


def test_a_model_with_another_schema_is_left_alone(client: TestClient) -> None:
    document = exported(client)
    document["target"] = {**part(document, "target"), "name": "z"}
    refused(client.post("/v1/models/small/versions", json=document), "conflict")


def test_a_lost_response_is_given_again_and_one_version_is_made(client: TestClient) -> None:
    document = exported(client)
    first, again = (
        client.post("/v1/models/twin/versions", json=document, headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert first.content == again.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(client.get("/v1/models/twin/versions").json()["items"]) == 1
    changed = {**document, "source": {**part(document, "source"), "version": 9}}
    other = client.post("/v1/models/twin/versions", json=changed, headers={"Idempotency-Key": "one"})
    assert other.status_code == 422


def part(document: Mapping[str, object], name: str) -> Json:
    inner = document[name]
    assert isinstance(inner, dict)
    return inner


def changed_at(document: Json, pointer: str, value: object) -> Json:
    """The document with another value at a place; REMOVED takes it away."""
    full = copy.deepcopy(document)
    *steps, last = pointer.strip("/").split("/")
    inner = at(full, steps)
    if isinstance(inner, list) and value is REMOVED:
        del inner[int(last)]
    elif isinstance(inner, list):
        inner[int(last)] = value
    elif isinstance(inner, dict):
        if value is REMOVED:
            del inner[last]
        else:
            inner[last] = value
    return full


def at(value: object, steps: Sequence[str]) -> object:
    """The value at a place."""
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step] if isinstance(value, dict) else None
    return value


REMOVED = object()

STEEP = {
    "type": "kernel",
    "kernel": {"type": "cubic"},
    "terms": [],
    "widths": [1e-74],
    "skew": None,
    "tail": None,
    "centres": [[1e75, 2.0, 3.0]] * 2,
}
"""Functions beyond all numbers wherever a row may be."""

RAGGED = {"kind": "effects", "name": "colour", "categories": ["blue", "red"], "fill": None, "indicator": False}
"""A text with effects of a number of texts that is not that of its categories, once `effects` are added."""

FAULTS: list[tuple[str, object, str]] = [
    ("/format", "pmml", "/format"),
    ("/format_version", 2, "/format_version"),
    ("/task", "ranking", "/task"),
    ("/task", "classification", "/target/classes"),
    ("/more", 1, "/more"),
    ("/source/version", 0, "/source/version"),
    ("/inputs", [], "/model/functions/0/centres/0"),
    ("/inputs/0/scale", 0.0, "/inputs/0/scale"),
    ("/inputs/0/shift", "1", "/inputs/0/shift"),
    ("/inputs/0/name", "", "/inputs/0/name"),
    ("/inputs/0/name", "a\u0000b", "/inputs/0/name"),
    ("/inputs/0/name", "y", "/inputs/0/name"),
    ("/inputs/0/name", "colour", "/inputs/1/name"),
    ("/inputs/0/indicator", True, "/model/functions/0/centres/0"),
    ("/inputs/0/kind", "category", "/inputs/0/categories"),
    ("/inputs/1/categories", ["red", "red"], "/inputs/1/categories"),
    ("/inputs/1/categories/0", "\u0000", "/inputs/1/categories/0"),
    ("/inputs/1/fill", [0.5], "/inputs/1/fill"),
    ("/inputs/1", {**RAGGED, "effects": [[0.5, 1.0], [0.5]]}, "/inputs/1/effects/1"),
    ("/inputs/1", {**RAGGED, "effects": []}, "/model/functions/0/centres/0"),
    ("/target/scale", -1.0, "/target/scale"),
    ("/target/name", "\n", "/target/name"),
    ("/target/kind", "category", "/target"),
    ("/target/classes", ["a", "b"], "/target"),
    ("/target/logarithmic", True, "/target/logarithmic"),
    ("/target/noise_column", "sd", "/target/noise_column"),
    ("/model/likelihood/type", "gamma", "/model/likelihood/type"),
    ("/model/likelihood", {"type": "bernoulli"}, "/model/likelihood"),
    ("/model/likelihood", {"type": "student_t", "degrees_of_freedom": 1.0}, "/model/likelihood/degrees_of_freedom"),
    ("/model/likelihood", {"type": "poisson"}, "/model/noise_sd"),
    ("/model/noise_sd", None, "/model/noise_sd"),
    ("/model/noise_sd", 0.0, "/model/noise_sd"),
    ("/model/functions/0/type", "radial", "/model/functions/0/type"),
    ("/model/functions/0/widths", [], "/model/functions/0/widths"),
    ("/model/functions/0/widths", [-1.0], "/model/functions/0/widths/0"),
    ("/model/functions/0/skew", [0.0], "/model/functions/0/skew"),
    ("/model/functions/0/terms", [{"input": 3, "share": 0.5}], "/model/functions/0/terms/0"),
    ("/model/functions/0/terms", [{"input": 1, "share": 0.5}] * 2, "/model/functions/0/terms"),
    ("/model/functions/0/kernel", {"type": "polynomial", "degree": 100}, "/model/functions/0/kernel/degree"),
    ("/model/functions/0/centres/1", [1.0], "/model/functions/0/centres/1"),
    ("/model/functions/0/centres/1/1", "a", "/model/functions/0/centres/1/1"),
    ("/model/functions/1", {"type": "inputs", "columns": [3]}, "/model/functions/1/columns/0"),
    ("/model/functions/1", {"type": "inputs", "columns": [-1]}, "/model/functions/1/columns/0"),
    (
        "/model/functions/1",
        {"type": "group", "columns": [1, 1], "of": {"type": "bias"}},
        "/model/functions/1/columns",
    ),
    ("/model/functions/1", {"type": "steps", "inputs": [0], "locations": []}, "/model/functions/1/locations"),
    ("/model/mean", [1.0], "/model/mean"),
    ("/model/mean", [[1.0], [1.0], [1.0]], "/model/mean"),
    ("/model/alpha", [1.0, 0.0, 1.0], "/model/alpha/1"),
    ("/model/gamma", [], "/model/gamma"),
    ("/model/covariance", [[1.0]], "/model/covariance"),
    ("/model/covariance/0/0", -1.0, "/model/covariance"),
    ("/model/covariance/0/1", 0.02, "/model/covariance"),
    ("/model/covariance", [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "/model/covariance"),
    ("/model/signal_variance", -1.0, "/model/signal_variance"),
    ("/report/plan", 7, "/report/plan"),
    ("/report/plan/inputs", [], "/report/plan/inputs"),
    ("/report/task", "regression", "/report/task"),
    ("/report/seconds", "NaN", "/report/seconds"),
    ("/report/dataset_id", "mine", "/report/dataset_id"),
    ("/report/more", 1, "/report"),
    ("/report/plan/split/more", 1, "/report/plan/split/more"),
    ("/report/plan/spec/likelihood", {"type": "poisson"}, "/report/plan/spec/likelihood"),
    ("/report/plan/spec/basis", [], "/report/plan/spec/basis"),
    (
        "/report/plan/spec/basis",
        [{"type": "group", "inputs": [7], "of": {"type": "inputs"}}],
        "/report/plan/spec/basis",
    ),
    ("/report/class_rows", [{"label": "a", "rows": 1}], "/report/class_rows"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pointer", "value", "named"), FAULTS, ids=[f"{number} {fault[0][1:]}" for number, fault in enumerate(FAULTS)]
)
def test_what_is_wrong_is_stated_with_its_place(client: TestClient, pointer: str, value: object, named: str) -> None:
    response = client.post("/v1/models/twin/versions", json=changed_at(exported(client), pointer, value))
    problem = refused(response, "invalid-request")
    assert named in [fault["pointer"] for fault in faults(problem)], problem
    assert client.get("/v1/models/twin").status_code == 404


CUBIC = {"type": "cubic"}
KERNEL = {
    "type": "kernel",
    "kernel": {"type": "gaussian"},
    "terms": [],
    "widths": [1.5],
    "skew": None,
    "tail": None,
    "centres": [[0.0, 1.0, 0.0]],
}
AUGMENTATION = {"functions": KERNEL, "spread": 0.1, "precisions": None}
AMPLITUDE = {"/model/signal_variance": 1.0}
COLD = {"type": "one_against_rest", "classes": 3, "temperature": 0.0}

CONTRADICTIONS: list[tuple[str, dict[str, object], str, str]] = [
    (
        "small",
        {
            "/model/functions/0": STEEP,
            "/report/members/0/kernel": STEEP["kernel"],
            "/report/members/0/hyperparameters/widths": [{"input": None, "width": 1e-74}],
        },
        "/model",
        "predicts no finite numbers",
    ),
    ("small", {"/target/noise_column": "y"}, "/target/noise_column", "a column other than target and inputs"),
    ("states", {"/target/classes": ["gas", "solid", "liquid"]}, "/target/classes", "distinct labels in order"),
    ("states", {"/target/classes/1": "li\0quid"}, "/target/classes/1", "contains NUL"),
    ("states", {"/model/likelihood": COLD}, "/model/likelihood/temperature", "a finite number above 0, got 0"),
    ("states", {"/model/mean": [1.0, -2.0, 0.5]}, "/model/mean", "each of 3 classes"),
    (
        "small",
        {**AMPLITUDE, "/model/functions/0/kernel": CUBIC},
        "/model/functions",
        "kernel functions first",
    ),
    (
        "small",
        {**AMPLITUDE, "/model/augmentation": AUGMENTATION},
        "/model/signal_variance",
        "either a signal variance or an augmentation",
    ),
    ("classes", {"/model/augmentation": AUGMENTATION}, "/model/augmentation", "Expected Gaussian noise"),
    (
        "small",
        {"/model/augmentation": {**AUGMENTATION, "functions": {**KERNEL, "kernel": CUBIC}}},
        "/model/augmentation/functions/kernel",
        "Expected kernel functions",
    ),
    (
        "small",
        {"/model/augmentation": {**AUGMENTATION, "functions": {**KERNEL, "centres": []}}},
        "/model/augmentation/functions/centres",
        "1 to 2,048 functions, got 0",
    ),
    (
        "small",
        {"/model/functions/1": {"type": "inputs", "columns": [0] * 2_048}},
        "/model/functions",
        "Expected at most 2,048 functions, got 2,050",
    ),
    (
        "small",
        {"/model/functions/0/kernel": CUBIC, "/model/functions/0/terms": [{"input": 0, "share": 0.5}]},
        "/model/functions/0/terms",
        'no terms for the kernel "cubic"',
    ),
]


@pytest.mark.parametrize(
    ("name", "changes", "pointer", "words"), CONTRADICTIONS, ids=[one[3] for one in CONTRADICTIONS]
)
def test_what_does_not_go_together_is_stated_with_its_place(
    client: TestClient, parts: SmallParts, name: str, changes: dict[str, object], pointer: str, words: str
) -> None:
    parts.stored.put_version(BUILT_IN_OWNER, version_of_three_classes(), number=1)
    document = exported(client, name)
    for place, value in changes.items():
        document = changed_at(document, place, value)
    problem = refused(client.post("/v1/models/twin/versions", json=document), "invalid-request")
    assert any(fault["pointer"] == pointer and words in str(fault["detail"]) for fault in faults(problem)), problem


def test_every_member_is_needed(client: TestClient) -> None:
    document = exported(client)
    report = part(document, "report")
    optional = {"imported", "baseline", "diagnostics", "input_rows"}
    needed = {
        "": set(document),
        "/model": set(part(document, "model")),
        "/report": set(report) - optional,
        "/report/plan": set(part(report, "plan")),
    }
    for pointer in [f"{where}/{name}" for where, names in needed.items() for name in names]:
        response = client.post("/v1/models/twin/versions", json=changed_at(document, pointer, REMOVED))
        problem = refused(response, "invalid-request")
        assert faults(problem)[0]["pointer"] == pointer


@pytest.mark.parametrize("name", ["Small", "x" * 64, "-", "a b"])
def test_a_model_has_a_name_that_may_be(client: TestClient, name: str) -> None:
    response = client.post(f"/v1/models/{name}/versions", json=exported(client))
    refused(response, "invalid-request")


def test_a_body_of_another_type_or_none_is_refused(client: TestClient) -> None:
    for media_type in ("text/csv", "application/x-npy", ""):
        response = client.post("/v1/models/twin/versions", content=b"{}", headers={"Content-Type": media_type})
        refused(response, "unsupported-media-type")
    for media_type, content in (
        ("application/json", b"{"),
        ("application/json", b"[" * 900 + b"]" * 900),
        ("application/json", b"[" * 5_000),
        ("application/x-npz", b"PK"),
        ("application/x-npz", archive({"document.json": b"{"})),
        ("application/x-npz", archive({"document.json": b'{"a":' * 900 + b"1" + b"}" * 900})),
    ):
        response = client.post("/v1/models/twin/versions", content=content, headers={"Content-Type": media_type})
        assert response.status_code in {400, 422}, (media_type, content[:20], response.text)
    nan = client.get("/v1/models/small/versions/1/export").text.replace("0.04", "NaN")
    response = client.post("/v1/models/twin/versions", content=nan, headers={"Content-Type": "application/json"})
    refused(response, "invalid-data")


def test_an_archive_that_unpacks_beyond_the_limit_of_bodies_is_refused(client: TestClient) -> None:
    bomb = archive({"document.json": b" " * (MORE_BYTES.max_body_bytes + 1)})
    response = client.post("/v1/models/twin/versions", content=bomb, headers={"Content-Type": "application/x-npz"})
    refused(response, "too-large")


def test_a_million_wrong_numbers_are_one_fault(client: TestClient) -> None:
    document = changed_at(exported(client), "/model/alpha", ["a"] * 100_000)
    problem = refused(client.post("/v1/models/twin/versions", json=document), "invalid-request")
    assert len(faults(problem)) == 1


def archive(members: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return sink.getvalue()


# Documents mangled at random


NAMES = ["bent, additive, free", "gaussian rows, independent", "categorical, process", "steps of classes", "groups"]

FUNCTION = "terms and a constant"
COMPONENTS = "matern_3_2"

SEEDS = {
    **{name: json.loads(RENDERINGS["json"].render(trained(name))) for name in NAMES},
    FUNCTION: json.loads(RENDERINGS["json"].render(KNOWN[FUNCTION]())),
    COMPONENTS: json.loads(RENDERINGS["json"].render(learned(COMPONENTS))),
}

strange = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "a", "\u0000", "rows", "learned", "gaussian", [], {}, [[]], [0], [1.5], {"type": "bias"}]),
    st.sampled_from([0, 1, -1, 1e-320, 1e300, 1e75, 2, 3, 100, 0.5]),
)


def places(value: object, pointer: str = "") -> Iterator[str]:
    """Every place of a document, with few of a long list."""
    if pointer:
        yield pointer
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, f"{pointer}/{name}")
    if isinstance(value, list):
        for place, inner in list(enumerate(value))[:3]:
            yield from places(inner, f"{pointer}/{place}")


PLACES = {name: sorted(places(document)) for name, document in SEEDS.items()}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(data=st.data(), name=st.sampled_from(sorted(SEEDS)))
@settings(
    max_examples=examples(75),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_mangled_document_is_refused_or_predicts(
    client: TestClient, parts: SmallParts, data: st.DataObject, name: str
) -> None:
    document = SEEDS[name]
    for _ in range(data.draw(st.integers(1, 2))):
        pointer = data.draw(st.sampled_from(PLACES[name]))
        change = data.draw(st.one_of(strange, st.just(REMOVED), st.just(DOUBLED)))
        if not reached(document, pointer):
            continue
        document = doubled_at(document, pointer) if change is DOUBLED else changed_at(document, pointer, change)
    with suppress(NotFoundError):
        parts.catalogue.delete_model(BUILT_IN_OWNER, "twin")
    response = client.post("/v1/models/twin/versions", json=document)
    assert response.status_code in {201, 400, 413, 422}, response.text
    if response.status_code != 201:
        assert response.json()["errors"] or response.status_code == 400, response.text
        return
    number = response.json()["version"]
    columns = {
        column["name"]: [column["categories"][0]] * 2 if column["kind"] == "category" else USUAL[column["kind"]]
        for column in response.json()["inputs"]
    }
    explained = {"explain": 1} if name in NAMES else {}
    predicted = client.post("/v1/models/twin/predict", json={"columns": columns, **explained})
    assert predicted.status_code in {200, 422}, predicted.text  # the row may be too far from its new training rows
    for path in ("", "/relevance-vectors", "/export", "/export?format=npz"):
        reported = client.get(f"/v1/models/twin/versions/{number}{path}", headers={"Accept": "*/*"})
        assert reported.status_code == 200, reported.text


DOUBLED = object()
USUAL: dict[str, list[object]] = {
    "number": [1.0, 1.25],
    "boolean": [True, False],
    "timestamp": ["2023-11-14T22:13:20Z", "2023-11-15T22:13:20Z"],
}


def reached(document: object, pointer: str) -> bool:
    for step in pointer.strip("/").split("/"):
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return False
    return True


def doubled_at(document: Json, pointer: str) -> Json:
    """With a list twice as long; else with a member more."""
    inner = at(document, pointer.strip("/").split("/"))
    longer = [*inner, *inner] if isinstance(inner, list) else {"what": inner}
    return changed_at(document, pointer, longer)
