"""Texts of all kinds in tables, on both databases: each reads back as it was, or is refused by both of them."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from urllib.parse import quote

import httpx2
import pytest

from tests.hostile.client import fault
from tests.hostile.conftest import Clients
from tests.hostile.texts import TEXTS, is_name, is_plain, is_storable
from tests.properties import repetitions
from tests.table_files import MEDIA_TYPES, TABLES, FlatRow, written

Columns = Mapping[str, Sequence[str | float]]
Write = Callable[[Columns], bytes]

CELLS = [text for text in TEXTS if is_storable(text)]
NAMES = [text for text in TEXTS if is_name(text)]
SOME = [text for text in Random(1).sample(TEXTS, repetitions(100, long=300)) if len(text) <= 2_000]
"""Those that are sent one by one in a request's target, which has no space for longer ones."""

HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\nContent-Type: text/csv\r\n\r\n'


def by_row(columns: Columns) -> list[FlatRow]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def as_csv(columns: Columns) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def as_lines(columns: Columns) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in by_row(columns)).encode()


READ_WITH_OTHER_NAMES = {"csv", "arrow", "parquet", "feather"}
"""Formats of files whose names are read with a blank for a line break, and cut."""

NOT_EVERY_TEXT: Mapping[str, str] = {
    "xlsx": "XML has no control characters, and one end of lines: tests/formats/test_xlsx.py",
}
"""Formats that can't hold every text, and why."""


def of_format(coded: str) -> tuple[str, Write]:
    return MEDIA_TYPES[coded], lambda columns: written(coded, by_row(columns))


WRITERS: Mapping[str, tuple[str, Write]] = {
    **{coded: of_format(coded) for coded in TABLES if coded not in NOT_EVERY_TEXT},
    "csv": (MEDIA_TYPES["csv"], as_csv),  # all quoted: a carriage return alone is not, by Python's own choice
    "json by column": (MEDIA_TYPES["json"], lambda columns: json.dumps({"columns": columns}).encode()),
    "json of UTF-8": (
        MEDIA_TYPES["json"],
        lambda columns: json.dumps({"rows": by_row(columns)}, ensure_ascii=False).encode(),
    ),
    "ndjson of UTF-8": (MEDIA_TYPES["ndjson"], as_lines),
}
"""By name: a media type, and what writes a table as it."""


def upload(client: httpx2.Client, coded: str, columns: Columns, query: str = "") -> httpx2.Response:
    """Upload a table in a format."""
    media_type, write = WRITERS[coded]
    options = f"{'delimiter=,&header=true&' if coded == 'csv' else ''}{query}"
    return client.post(f"/v1/datasets?{options}", content=write(columns), headers={"Content-Type": media_type})


def rows_of(client: httpx2.Client, dataset: str) -> list[dict[str, object]]:
    """Return all rows of a dataset, page by page."""
    found: list[dict[str, object]] = []
    after = ""
    while True:
        page = client.get(f"/v1/datasets/{dataset}/rows?limit=200{after}")
        assert page.status_code == 200, page.text[:300]
        found += [row["cells"] for row in page.json()["items"]]
        if page.json()["after"] is None:
            return found
        after = f"&after={page.json()['after']}"


def differing(expected: Sequence[object], found: Sequence[object]) -> list[tuple[str, str]]:
    """Return the pairs that differ, as ASCII."""
    assert len(expected) == len(found)
    pairs = zip(expected, found, strict=True)
    return [(ascii(one)[:200], ascii(other)[:200]) for one, other in pairs if one != other]


def stripped(text: str) -> str | None:
    """Return a cell of CSV as it is read: without surrounding blanks, missing where nothing is left."""
    return text.strip() or None


@pytest.mark.parametrize("coded", WRITERS)
def test_cells_read_back_as_they_were(clients: Clients, coded: str) -> None:
    for database, client in clients.items():
        response = upload(client, coded, {"text": CELLS, "x": [*map(float, range(len(CELLS)))]}, "kinds=text:category")
        assert response.status_code == 201, (database, response.text[:300])
        found = [row["text"] for row in rows_of(client, response.json()["id"])]
        expected = [stripped(cell) for cell in CELLS] if coded == "csv" else CELLS
        assert differing(expected, found) == [], database


@pytest.mark.parametrize("coded", WRITERS)
def test_names_read_back_as_they_were(clients: Clients, coded: str) -> None:
    # Without surrounding blanks some names of CSV would be equal, or empty.
    names = [*dict.fromkeys(name.strip() for name in NAMES if name.strip())] if coded == "csv" else NAMES
    for database, client in clients.items():
        response = upload(client, coded, {name: [float(place)] for place, name in enumerate(names)})
        assert response.status_code == 201, (database, response.text[:300])
        dataset = response.json()
        assert differing(names, [column["name"] for column in dataset["columns"]]) == [], database
        (row,) = rows_of(client, dataset["id"])
        assert row == {name: float(place) for place, name in enumerate(names)}, database


@pytest.mark.parametrize("coded", WRITERS)
def test_what_no_table_may_hold_is_refused(clients: Clients, coded: str) -> None:
    cells = [text for text in TEXTS if not is_storable(text)]
    names = [text for text in TEXTS if not is_name(text)]
    if coded == "csv":  # surrounding blanks are no part of a name, and a column may have none
        names = [name for name in names if name.strip() and not is_name(name.strip())]
    if coded in READ_WITH_OTHER_NAMES:
        names = [name for name in names if not is_name(" ".join(name.split())[:200])]
    assert len(cells) > 2
    for database, client in clients.items():
        for cell in cells:
            columns: Columns = {"text": [cell], "x": [1.0]}
            response = upload(client, coded, columns, "kinds=text:category")
            assert (response.status_code, fault(response)) == (422, ""), (database, ascii(columns)[:200])
        for name in names:
            response = upload(client, coded, {"x": [1.0], name: [2.0]})
            assert (response.status_code, fault(response)) == (422, ""), (database, ascii(name)[:200])


def test_kinds_are_declared_for_columns_of_any_name(clients: Clients) -> None:
    for database, client in clients.items():
        for first in range(0, len(NAMES), 25):
            names = NAMES[first : first + 25]
            query = "&".join(f"kinds={quote(f'{name}:category', safe='')}" for name in names)
            response = upload(client, "json by column", {name: ["1"] for name in names}, query)
            assert response.status_code == 201, (database, response.text[:300])
            kinds = [(column["name"], column["kind"]) for column in response.json()["columns"]]
            assert kinds == [(name, "category") for name in names], database


def test_datasets_are_called_and_found_by_any_name(clients: Clients) -> None:
    outcomes = {}
    for database, client in clients.items():
        statuses = Counter[int]()
        for name in SOME:
            encoded = quote(name, safe="")
            response = upload(client, "json by column", {"x": [1.0]}, f"name={encoded}")
            is_fit = bool(name.strip()) and len(name) <= 200 and is_plain(name)
            assert response.status_code == (201 if is_fit else 422), (database, ascii(name), response.text[:200])
            assert not fault(response)
            statuses[response.status_code] += 1
            if is_fit:
                dataset = response.json()
                assert dataset["name"] == name, database
                assert client.get(f"/v1/datasets/{dataset['id']}").json()["name"] == name, database
                listed = client.get(f"/v1/datasets?name={encoded}").json()["items"]
                assert dataset["id"] in [one["id"] for one in listed], (database, ascii(name))
                assert {one["name"] for one in listed} == {name}
        outcomes[database] = statuses
    assert len({*map(str, outcomes.values())}) == 1, outcomes


def test_a_file_name_of_a_form_becomes_a_plain_name(clients: Clients) -> None:
    for database, client in clients.items():
        for name in SOME:
            if {*name} & {*'\r\n\0"\\'}:
                continue
            content = HEAD.format(name).encode() + b"x\n1\n\r\n--b--\r\n"
            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            response = client.post("/v1/datasets", content=content, headers=headers)
            assert not fault(response), (database, ascii(name))
            if response.status_code == 201:
                stored = response.json()["name"]
                assert is_plain(stored), (database, ascii(name), ascii(stored))
                assert 0 < len(stored) <= 200
