"""Damaged binary files: each is refused, or what is stored of it reads back, and the process lives and stays small."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx2
import pytest

from app.formats import FORMATS
from tests.hostile.binaries import REFUSED, UPLOAD, Body, bodies
from tests.hostile.client import fault, hostile_client
from tests.hostile.forging import not_finite
from tests.hostile.mutations import mutated
from tests.hostile.service import Target
from tests.properties import repetitions
from tests.served import Service, served

BODIES = dict(bodies())
FAMILIES = sorted({name.split(",")[0] for name in BODIES})
EACH = repetitions(20, long=50)
"""Mutations of each body."""

MAX_MEGABYTES = 500.0
"""Of the process after all of them: Arrow, Parquet and their allocators among it."""


def test_every_binary_format_of_the_union_has_bodies() -> None:
    assert {one.name for one in FORMATS if not one.is_text} - set(FAMILIES) == set(), (
        "add them to tests.hostile.binaries"
    )


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(sqlite_template, tmp_path_factory.mktemp("binaries")) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx2.Client]:
    with hostile_client(service.url, service.key) as client:
        yield client


def outcome(client: httpx2.Client, body: Body, content: bytes) -> tuple[int, str]:
    """Return the status of a body's response, and what is wrong with it or with what it stored."""
    response = client.post(body.path, content=content, headers=body.headers)
    wrong = fault(response)
    if not wrong and response.status_code == 201:
        wrong = fault_of_stored(client, response.json())
    elif not wrong and response.status_code == 200 and not_finite(response.json()):
        wrong = f"not finite: {response.text[:300]}"
    return response.status_code, wrong


def fault_of_stored(client: httpx2.Client, dataset: dict[str, object]) -> str:
    """Return what is wrong with a dataset: it has other rows or columns than its upload stated."""
    identifier, n_rows = dataset["id"], dataset["rows"]
    names = [column["name"] for column in dataset["columns"]] if isinstance(dataset["columns"], list) else []
    assert isinstance(n_rows, int)
    first = client.get(f"/v1/datasets/{identifier}/rows?limit=1000")
    last = client.get(f"/v1/datasets/{identifier}/rows?limit=1000&after={max(n_rows - 2, 0)}")
    for page in (first, last):
        if page.status_code != 200 or not_finite(page.json()):
            return f"rows: {page.status_code} {page.text[:300]}"
        if any([*row["cells"]] != names for row in page.json()["items"]):
            return f"rows have other columns than {names}: {page.text[:300]}"
    numbers = [row["row"] for row in first.json()["items"]]
    ends = [row["row"] for row in last.json()["items"]]
    if numbers != [*range(len(numbers))] or (first.json()["after"] is None) != (len(numbers) == n_rows):
        return f"{n_rows} rows were stored, {len(numbers)} read"
    if ends != ([n_rows - 1] if n_rows > 1 else []):
        return f"{n_rows} rows were stored, the last is {ends}"
    if client.delete(f"/v1/datasets/{identifier}").status_code != 204:
        return "the dataset could not be deleted"
    return ""


@pytest.mark.parametrize("name", BODIES)
def test_what_is_whole_is_accepted(client: httpx2.Client, name: str) -> None:
    body = BODIES[name]
    status, wrong = outcome(client, body, body.content)
    assert (status, wrong) == (201 if body.path == UPLOAD else 200, "")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused(client: httpx2.Client, name: str) -> None:
    status, wrong = outcome(client, REFUSED[name], REFUSED[name].content)
    assert (status in {400, 415}, wrong) == (True, "")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_damaged_is_refused_or_reads_back(client: httpx2.Client, service: Service, family: str) -> None:
    statuses, faults, target = Counter[int](), list[str](), Target.of(service)
    for name, body in BODIES.items():
        if not name.startswith(f"{family},"):
            continue
        random = Random(name)
        for number in range(EACH):
            content = mutated(random, body.content)
            status, wrong = outcome(client, body, content)
            statuses[status] += 1
            faults += [f"{name}, {number}: {wrong}; {content[:2_000]!r}"] if wrong else []
    assert faults == []
    assert statuses[400] > 0
    assert sum(statuses.values()) >= EACH
    assert target.megabytes() < MAX_MEGABYTES
    assert "unexpected" not in service.given()
