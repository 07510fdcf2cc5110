"""Forged documents of versions: each is refused, or predicts finite numbers and is exported again."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from random import Random

import httpx2
import pytest

from app.exports.formats import NPZ
from tests.exports.test_spoilt_documents import documents
from tests.hostile.client import MAX_SECONDS, fault, hostile_client
from tests.hostile.forging import Document, Json, forged, forged_npz, not_finite, rendered
from tests.hostile.service import Target
from tests.properties import IS_LONG, repetitions
from tests.served import Service, served

SEED = 20_240_501
BATCHES = repetitions(2, long=7)
BATCH = 200
ARCHIVES = repetitions(80, long=300)
MAX_GROWTH = 160.0
"""MB: those of the cache of versions, of allocators, and of the packages that exports import."""

EXTREMES: Mapping[str, tuple[Json, ...]] = {
    "number": (0.5, 1e308, -1e308, 0.0),
    "timestamp": ("2024-05-01T13:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", 0.0),
    "boolean": (True, False, True, False),
}
"""Cells by kind: an ordinary one, and some at the ends of what is accepted."""


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(sqlite_template, tmp_path_factory.mktemp("forged")) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx2.Client]:
    with hostile_client(service.url, service.key) as client:
        yield client


@pytest.fixture(scope="module")
def originals() -> list[Document]:
    """One document of each task, kernel and dictionary."""
    made: list[Document] = json.loads(json.dumps([*documents().values()]))
    return made


def rows_of(document: Document) -> list[Document]:
    """Return rows of all columns that a version reads: an ordinary one, and extreme ones."""
    inputs = document["inputs"]
    target = document.get("target")
    columns: dict[str, tuple[Json, ...]] = {}
    assert isinstance(inputs, list)
    for one in inputs:
        assert isinstance(one, dict)
        labels = one.get("categories")
        cells = tuple(labels[:1]) * 4 if isinstance(labels, list) else EXTREMES[str(one["kind"])]
        columns[str(one["name"])] = cells
    if isinstance(target, dict) and isinstance(noise := target["noise_column"], str):
        columns[noise] = (0.1, 1e308, 1e-308, 0.1)
    return [{name: cells[row] for name, cells in columns.items()} for row in range(4)]


def predicted(client: httpx2.Client, path: str, rows: list[Document]) -> tuple[str, Json]:
    """Return what is wrong with the predictions for rows, and what they are, or the detail of the refusal."""
    response = client.post(f"{path}/predict", json={"rows": rows, "on_error": "per_row"})
    decoded = response.json()
    if response.status_code != 200:
        return fault(response), decoded.get("detail")
    predictions: Json = decoded["predictions"]
    return ("", predictions) if not not_finite(predictions) else (f"not finite: {response.text[:300]}", predictions)


def faults_of_accepted(client: httpx2.Client, name: str) -> Iterator[str]:
    """Yield what is wrong with an imported version, by request."""
    path = f"/v1/models/{name}/versions/1"
    for suffix in ("", "/relevance-vectors"):
        response = client.get(f"{path}{suffix}")
        if response.status_code != 200:
            yield f"{suffix or 'version'}: {response.status_code} {response.text[:300]}"
    exported = {form: client.get(f"{path}/export?format={form}") for form in ("json", "npz", "onnx", "python")}
    yield from (f"export as {form}: {wrong}" for form, one in exported.items() if (wrong := fault(one)))
    if exported["json"].status_code != 200:
        return
    rows = rows_of(exported["json"].json())
    wrong, predictions = predicted(client, path, rows)
    if wrong:
        yield f"prediction: {wrong}"
    form, media_type = ("json", "application/json") if len(name) % 2 else ("npz", NPZ)
    content = exported[form].content
    response = client.post(f"/v1/models/{name}.twin/versions", content=content, headers={"Content-Type": media_type})
    if response.status_code != 201:
        yield f"import of the export as {form}: {response.status_code} {response.text[:300]}"
        return
    _, twin = predicted(client, f"/v1/models/{name}.twin/versions/1", rows)
    if twin != predictions:
        yield f"the export as {form} predicts something else: {predictions!r}, {twin!r}"


def imported(client: httpx2.Client, name: str, content: bytes, media_type: str) -> tuple[int, list[str]]:
    """Return the status of an import, and what is wrong with it or with the version that it made."""
    response = client.post(f"/v1/models/{name}/versions", content=content, headers={"Content-Type": media_type})
    wrong = [found] if (found := fault(response)) else []
    if response.status_code == 201:
        wrong += faults_of_accepted(client, name)
    return response.status_code, [f"{one} of {content[:3_000]!r}" for one in wrong]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_forged_document_is_refused_or_predicts_finite_numbers(
    client: httpx2.Client, originals: list[Document], batch: int
) -> None:
    random, statuses, wrong = Random(SEED + batch), Counter[int](), list[str]()
    for number in range(BATCH):
        document = forged(random, random.choice(originals), originals)
        status, found = imported(client, f"forged.{batch}.{number}", rendered(document), "application/json")
        statuses[status] += 1
        wrong += found
    assert wrong == []
    assert {*statuses} >= {201, 400, 422}
    assert statuses[201] > BATCH // 20, "hardly any document was accepted: the forger changes too much"


def places(value: Json, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of each member of a document; of an array, those of its first item."""
    if place:
        yield place
    if isinstance(value, dict):
        for name, one in value.items():
            yield from places(one, (*place, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))


def changed(document: Document, place: tuple[str | int, ...], value: Json) -> Document:
    """Return a copy of a document with another value at a place; without the member where the value is `LEFT_OUT`."""
    copy = deepcopy(document)
    parent: Json = copy
    for step in place[:-1]:
        assert isinstance(parent, dict | list)
        parent = parent[step]  # type: ignore[index]  # a name of an object, or an index of an array
    assert isinstance(parent, dict | list)
    if value == LEFT_OUT:
        del parent[place[-1]]  # type: ignore[arg-type]  # as above
    else:
        parent[place[-1]] = value  # type: ignore[index]  # as above
    return copy


LEFT_OUT = "left out"
FORGED: tuple[Json, ...] = (LEFT_OUT, None, -1, 0, 1e308, "", "\0", [], {}, True, [[]], 2**63, "9" * 400)


def test_every_member_of_each_document_is_forged_alone(client: httpx2.Client, originals: list[Document]) -> None:
    """Each member has some of the values, so that all values meet each kind of member in some document.

    What several documents have in the same place is forged in the first of them, in `make long` in each.
    """
    statuses, wrong, number, forged_before = Counter[int](), list[str](), 0, set[tuple[str | int, ...]]()
    for document in originals:
        for place in places(document):
            if place in forged_before and not IS_LONG:
                continue
            forged_before.add(place)
            for value in (FORGED[number % len(FORGED)], FORGED[(number + 5) % len(FORGED)]):
                content = rendered(changed(document, place, value))
                status, found = imported(
                    client, f"member.{number}.{sum(statuses.values())}", content, "application/json"
                )
                statuses[status] += 1
                wrong += [f"{place}: {one}" for one in found]
            number += 1
    assert wrong == []
    assert number > 200
    assert {*statuses} >= {201, 422}


def archived(client: httpx2.Client, originals: list[Document]) -> Iterator[bytes]:
    """Yield each document as an archive."""
    for number, document in enumerate(originals):
        status, wrong = imported(client, f"original.{number}", rendered(document), "application/json")
        assert (status, wrong) == (201, [])
        yield client.get(f"/v1/models/original.{number}/versions/1/export?format=npz").content


def test_a_forged_archive_is_refused_or_predicts_finite_numbers(
    client: httpx2.Client, originals: list[Document]
) -> None:
    random, statuses, wrong = Random(SEED), Counter[int](), list[str]()
    archives = [*archived(client, originals)]
    for number in range(ARCHIVES):
        content = forged_npz(random, random.choice(archives))
        status, found = imported(client, f"archive.{number}", content, NPZ)
        statuses[status] += 1
        wrong += found
    assert wrong == []
    assert {*statuses} >= {201, 400, 422}


def test_the_process_is_alive_and_no_larger(service: Service, client: httpx2.Client, originals: list[Document]) -> None:
    target, random = Target.of(service), Random(SEED)
    sizes = []
    for _ in range(2):
        sizes.append(target.megabytes())
        for number in range(100):
            name = f"again.{number}"
            content = rendered(forged(random, random.choice(originals), originals))
            client.post(f"/v1/models/{name}/versions", content=content, headers={"Content-Type": "application/json"})
            client.delete(f"/v1/models/{name}")
    assert target.megabytes() - sizes[-1] < MAX_GROWTH
    assert client.get("/health/live", timeout=MAX_SECONDS).status_code == 200
    assert "unexpected" not in service.given()
