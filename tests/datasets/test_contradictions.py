"""Uploads over HTTP whose later rows contradict the kinds of the first ones: read again from the spooled body."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from app.http.dependencies import RequestLimits
from app.main import make_application
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables import columns
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from tests.applications import StoredParts
from tests.formats.samples.json import FlatRow
from tests.table_files import MEDIA_TYPES, written

DATASETS = "/v1/datasets"
CSV = {"Content-Type": "text/csv"}
COLUMNS = 20
BEFORE = [ROWS_LOOKED_AT, 2_500]
"""Numbers of rows before the contradiction: the first beyond those that kinds are inferred from, and one in the last of
three blocks of 1,000 rows."""

PIECE = 1_000
"""The number of rows that are sent at once."""


@pytest.fixture
def client(engine: Engine, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a service on a real database that spools bodies."""
    spool = tmp_path / "spool"
    spool.mkdir()
    limits = RequestLimits(
        max_upload_bytes=2**26,
        max_body_bytes=2**24,
        max_rows=10**6,
        max_columns=1_000,
        max_prediction_rows=5,
        spool_directory=spool,
    )
    with TestClient(
        make_application(StoredParts.over(engine), limits), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 1,000 rows of so many COLUMNS."""
    monkeypatch.setattr(columns, "MAX_CELLS_OF_A_BLOCK", COLUMNS * 1_000)


def body(cells: Sequence[str]) -> Iterator[bytes]:
    """Pieces of a CSV with these cells in the column v, between columns of numbers."""
    yield b"n,v," + b",".join(b"x%d" % number for number in range(COLUMNS - 2)) + b"\n"
    rest = ",1.5" * (COLUMNS - 2)
    for first in range(0, len(cells), PIECE):
        yield "".join(f"{first + row},{cell}{rest}\n" for row, cell in enumerate(cells[first : first + PIECE])).encode()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(
    ("usual", "late", "kind", "read"),
    [
        ("90210", "01234", "category", ("90210", "01234")),
        ("012", "1234", "number", (12.0, 1234.0)),
        ("7", "12345678901234567", "category", ("7", "12345678901234567")),
        ("", "red", "category", (None, "red")),
        ("", "00123", "category", (None, "00123")),
        ("", "12 %", "number", (None, 12.0)),
        ("", "31-Jan-2020", "timestamp", (None, "2020-01-31T00:00:00Z")),
        ("NA", "true", "boolean", (None, True)),
    ],
)
def test_a_later_row_makes_the_upload_start_again_with_the_other_kind(
    client: TestClient, before: int, usual: str, late: str, kind: str, read: tuple[object, object]
) -> None:
    created = client.post(DATASETS, content=body([*[usual] * before, late, late]), headers=CSV)
    assert created.status_code == 201
    dataset = created.json()
    assert dataset["rows"] == before + 2
    assert [(one["name"], one["kind"]) for one in dataset["columns"][:3]] == [
        ("n", "number"),
        ("v", kind),
        ("x0", "number"),
    ]
    rows = f"{DATASETS}/{dataset['id']}/rows"
    cells = [
        row["cells"]
        for after in ("", f"&after={before - 2}")
        for row in client.get(f"{rows}?limit={3 if after else 1}{after}").json()["items"]
    ]
    assert [one["v"] for one in cells] == [read[0], read[0], read[1], read[1]]
    assert [one["n"] for one in cells] == [0, before - 1, before, before + 1]
    assert len(client.get(DATASETS).json()["items"]) == 1


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(
    ("usual", "late"), [("7", "seven"), ("12 %", "0.5"), ("$5", "€7"), ("2024-05-01", "soon"), ("true", "maybe")]
)
def test_a_later_row_of_no_kind_is_refused_with_its_line_and_leaves_nothing(
    client: TestClient, tmp_path: Path, before: int, usual: str, late: str
) -> None:
    refused = client.post(DATASETS, content=body([*[usual] * before, late]), headers=CSV)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-data")
    assert refused.json()["detail"].startswith(f'Line {before + 2}, column "v": ')
    (fault,) = refused.json()["errors"]
    assert (fault["line"], fault["row"], fault["column"]) == (before + 2, before, "v")
    assert client.get(DATASETS).json()["items"] == []
    assert [*(tmp_path / "spool").iterdir()] == []


@pytest.mark.usefixtures("small_blocks")
def test_columns_that_begin_in_different_blocks_need_one_more_reading(client: TestClient) -> None:
    texts, width, step = 12, COLUMNS, 1_000
    rows = [",".join(["n", *(f"t{number}" for number in range(width - 1))])]
    for row in range(texts * step):
        begun = row // step
        rows.append(f"{row}," + "a," * begun + "," * (width - 2 - begun))
    created = client.post(DATASETS, content="\n".join(rows).encode(), headers=CSV)
    assert created.status_code == 201
    kinds = [column["kind"] for column in created.json()["columns"]]
    assert kinds == ["number", *["category"] * (texts - 1), *["number"] * (width - texts)]


FORMATS = ("ndjson", "json", "xlsx", "arrow", "feather", "parquet")


@dataclass(frozen=True)
class Late:
    """The usual cell of a column, a later one, the kind of the column and both as they are read."""

    usual: Cell
    late: Cell
    kind: ColumnKind
    read: tuple[Cell, Cell]
    formats: Sequence[str] = FORMATS


LONG = 12_345_678_901_234_567
READ_AGAIN = {
    "long": Late(7, LONG, "category", ("7", str(LONG)), ("ndjson", "json", "arrow", "feather", "parquet")),
    "long text": Late(7, str(LONG), "category", ("7", str(LONG)), ("xlsx",)),  # its numbers are float64
    "text": Late(None, "red", "category", (None, "red")),
    "code": Late(None, "00123", "category", (None, "00123")),
    "codes": Late("90210", "01234", "category", ("90210", "01234")),
    "code beside integers": Late(90210, "01234", "category", ("90210", "01234"), ("xlsx",)),
    "marker": Late(90210, "NA", "number", (90210, None), ("xlsx",)),
    "flag": Late(None, True, "boolean", (None, True)),
    "day": Late(None, "2020-01-31", "timestamp", (None, "2020-01-31T00:00:00Z")),
    "number": Late(None, 1.5, "number", (None, 1.5)),
    "number among texts": Late("red", 7, "category", ("red", "7"), ("ndjson", "json")),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("coded", FORMATS)
def test_later_cells_of_other_formats_have_the_kinds_of_whole_columns(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, coded: str, before: int
) -> None:
    cases = {name: one for name, one in READ_AGAIN.items() if coded in one.formats}
    monkeypatch.setattr(columns, "MAX_CELLS_OF_A_BLOCK", len(cases) * 1_000)
    table: list[FlatRow] = [
        {name: one.usual if row < before else one.late for name, one in cases.items()} for row in range(before + 2)
    ]
    created = client.post(DATASETS, content=written(coded, table), headers={"Content-Type": MEDIA_TYPES[coded]})
    assert created.status_code == 201, created.text
    dataset = created.json()
    assert dataset["rows"] == before + 2
    assert {one["name"]: one["kind"] for one in dataset["columns"]} == {name: one.kind for name, one in cases.items()}
    rows = client.get(f"{DATASETS}/{dataset['id']}/rows?limit=4&after={before - 3}").json()["items"]
    for name, one in cases.items():
        assert [row["cells"][name] for row in rows] == [one.read[0], one.read[0], one.read[1], one.read[1]], name
    assert len(client.get(DATASETS).json()["items"]) == 1


REFUSED: Sequence[tuple[Cell, Cell, Sequence[str]]] = [
    (7, "seven", ("ndjson", "json", "xlsx")),
    (7, True, ("ndjson", "json", "xlsx")),
    (True, 5, ("ndjson", "json")),
    (True, "maybe", ("ndjson", "json", "xlsx")),
    ("2024-05-01", "soon", FORMATS),
    ("2024-05-01", 5, ("ndjson", "json")),
]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("coded", FORMATS)
def test_later_cells_of_no_kind_are_refused_with_their_rows_in_other_formats_and_leave_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, coded: str, before: int
) -> None:
    cases = [(usual, late) for usual, late, formats in REFUSED if coded in formats]
    monkeypatch.setattr(columns, "MAX_CELLS_OF_A_BLOCK", len(cases) * 1_000)
    table: list[FlatRow] = [
        {f"v{place}": late if row == before else usual for place, (usual, late) in enumerate(cases)}
        for row in range(before + 1)
    ]
    refused = client.post(DATASETS, content=written(coded, table), headers={"Content-Type": MEDIA_TYPES[coded]})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-data"), refused.text
    faults = refused.json()["errors"]
    assert [(one["row"], one["column"]) for one in faults] == [(before, f"v{place}") for place in range(len(cases))]
    assert {one.get("line") for one in faults} == {before + 1 if coded == "ndjson" else None}
    assert {one.get("sheet_row") for one in faults} == {before + 2 if coded == "xlsx" else None}
    named = {"ndjson": f"Line {before + 1}", "xlsx": f"Row {before + 2} of the sheet"}
    assert refused.json()["detail"].startswith(named.get(coded, f"Row {before + 1} of the data"))
    assert client.get(DATASETS).json()["items"] == []
    assert [*(tmp_path / "spool").iterdir()] == []


@pytest.mark.parametrize("coded", ["ndjson", "arrow"])
def test_columns_that_begin_in_different_blocks_are_read_once_more_in_other_formats(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, coded: str
) -> None:
    monkeypatch.setattr(columns, "MAX_CELLS_OF_A_BLOCK", 13 * 100)
    begun = [ROWS_LOOKED_AT + 100 * place for place in range(12)]
    rows: list[FlatRow] = [
        {"n": row, **{f"t{place}": "a" if row >= first else None for place, first in enumerate(begun)}}
        for row in range(begun[-1] + 1)
    ]
    created = client.post(DATASETS, content=written(coded, rows), headers={"Content-Type": MEDIA_TYPES[coded]})
    assert created.status_code == 201, created.text
    assert [column["kind"] for column in created.json()["columns"]] == ["number", *["category"] * 12]
