"""Taking in a table, on a small database: nothing is seen before its end, nothing stays when it goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.database.transaction import Transaction
from app.datasets.ingest import Ingest
from app.datasets.records import Received
from app.datasets.repository import DatasetRepository
from app.datasets.tables import DatasetRow
from app.errors import KeyInUseError, UnavailableError
from app.formats.streams import TableStream
from app.http.idempotency_records import Keyed, RequestKey, StoredResponse
from app.http.key_repository import IdempotencyKeyRepository
from app.http.tables import RequestKeyRow
from relevance_bayes.records.datasets import Image
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block
from tests.small_database import SmallDatabase
from tests.small_tables import cut_up, numbers, texts

NOW = datetime(2024, 5, 1, tzinfo=UTC)
BLOCK: Block = {"x": numbers(1.0, 2.0, None), "c": texts("a", None, "b")}
PIECES = [piece for _, piece in cut_up(BLOCK, 2)]


@pytest.fixture
def ingest(stored: SmallDatabase) -> Ingest:
    return Ingest(stored.transaction, lambda: NOW)


def test_blocks_become_a_dataset(stored: SmallDatabase, ingest: Ingest) -> None:
    dataset = ingest.receive(
        "me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=iter(PIECES))
    ).dataset
    with stored.transaction() as tx:
        assert DatasetRepository(tx).get("me", dataset.id) == dataset
        assert [found[0] for number in range(2) if (found := DatasetRepository(tx).block(dataset.id, number))] == [0, 2]
    assert (dataset.owner, dataset.name, dataset.created_at, dataset.rows) == ("me", "points", NOW, 3)
    assert [(column.name, column.kind, column.missing) for column in dataset.columns] == [
        ("x", "number", 1),
        ("c", "category", 1),
    ]
    assert stored.count(DatasetRow) == 1


def test_no_rows_are_refused_before_anything_is_stored(stored: SmallDatabase, ingest: Ingest) -> None:
    with pytest.raises(InvalidDataError, match="no rows"):
        ingest.receive("me", "points", TableStream(names=("x",), kinds=("number",), blocks=iter([])))
    assert stored.opened == 0


KEY = RequestKey("me", "POST /v1/datasets", "k", "ab")


def response(stored: SmallDatabase) -> StoredResponse | None:
    with stored.transaction() as tx:
        return IdempotencyKeyRepository(tx).find(KEY)


def keyed() -> Keyed[Received]:
    return Keyed(KEY, lambda received: StoredResponse(201, (), str(received.dataset.id).encode()))


def test_the_response_to_a_keyed_upload_is_kept_with_its_dataset(stored: SmallDatabase, ingest: Ingest) -> None:
    def blocks() -> Iterator[Block]:
        yield BLOCK
        with pytest.raises(KeyInUseError):
            response(stored)
        yield BLOCK

    dataset = ingest.receive(
        "me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks()), keyed=keyed()
    ).dataset
    assert response(stored) == StoredResponse(201, (), str(dataset.id).encode())
    with pytest.raises(KeyInUseError):
        ingest.receive(
            "me",
            "points",
            TableStream(names=("x", "c"), kinds=("number", "category"), blocks=iter(PIECES)),
            keyed=keyed(),
        )
    assert stored.count(DatasetRow) == 1


def test_an_upload_that_goes_wrong_lets_go_of_its_key(stored: SmallDatabase, ingest: Ingest) -> None:
    def blocks() -> Iterator[Block]:
        yield BLOCK
        with pytest.raises(KeyInUseError):
            response(stored)
        raise InvalidDataError("line 7")

    with pytest.raises(InvalidDataError):
        ingest.receive(
            "me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks()), keyed=keyed()
        )
    assert response(stored) is None


def test_an_upload_whose_key_was_taken_over_ends(stored: SmallDatabase, ingest: Ingest) -> None:
    heir = uuid4()

    def blocks() -> Iterator[Block]:
        yield BLOCK
        with Session(stored.engine) as session, session.begin():
            session.execute(update(RequestKeyRow).values(holder=heir))
        yield BLOCK

    with pytest.raises(KeyInUseError):
        ingest.receive(
            "me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks()), keyed=keyed()
        )
    with Session(stored.engine) as session:
        assert session.scalars(select(RequestKeyRow.holder)).all() == [heir]
    assert stored.count(DatasetRow) == 0


class Broken(Exception):
    """Anything that nobody foresaw."""


@pytest.mark.parametrize("error", [InvalidDataError("line 7"), Broken(), KeyboardInterrupt()])
def test_whatever_goes_wrong_the_upload_is_discarded(
    stored: SmallDatabase, ingest: Ingest, error: BaseException
) -> None:
    def blocks() -> Iterator[Block]:
        yield BLOCK
        assert stored.count(DatasetRow) == 1
        raise error

    with pytest.raises(type(error)):
        ingest.receive("me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks()))
    assert stored.count(DatasetRow) == 0


def test_the_first_error_is_reported_when_the_database_is_away_too(
    stored: SmallDatabase, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_deleted(*_: object) -> bool:
        raise UnavailableError("gone")

    def blocks() -> Iterator[Block]:
        yield BLOCK
        raise InvalidDataError("line 7")

    monkeypatch.setattr(DatasetRepository, "discard", is_deleted)
    with pytest.raises(InvalidDataError, match="line 7"):
        ingest.receive("me", "points", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks()))


def test_blocks_are_drawn_outside_of_transactions(stored: SmallDatabase) -> None:
    inside = 0

    @contextmanager
    def counted() -> Iterator[Transaction]:
        nonlocal inside
        inside += 1
        with stored.transaction() as unit:
            yield unit
        inside -= 1

    def blocks() -> Iterator[Block]:
        for piece in PIECES:
            assert inside == 0
            yield piece

    Ingest(counted, lambda: NOW).receive(
        "me", "n", TableStream(names=("x", "c"), kinds=("number", "category"), blocks=blocks())
    )
    assert inside == 0


def test_the_cleanup_looks_an_hour_back_until_nothing_is_left(
    stored: SmallDatabase, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested: list[datetime] = []

    def remove_expired(_: DatasetRepository, *, not_written_since: datetime) -> bool:
        requested.append(not_written_since)
        return len(requested) < 3

    monkeypatch.setattr(DatasetRepository, "remove_expired", remove_expired)
    assert ingest.remove_expired() == 2
    assert requested == [datetime(2024, 4, 30, 23, tzinfo=UTC)] * 3


def test_a_repeated_upload_is_the_dataset_that_was_there(stored: SmallDatabase, ingest: Ingest) -> None:
    def received(name: str, blocks: list[Block], owner: str = "me", *, reuse: bool = True) -> Received:
        kinds: tuple[ColumnKind, ...] = ("number", "category")
        return ingest.receive(owner, name, TableStream(names=("x", "c"), kinds=kinds, blocks=iter(blocks)), reuse=reuse)

    first = received("points", PIECES)
    assert first.is_new
    again = received("points", [BLOCK])  # in other blocks
    assert again == Received(first.dataset, is_new=False)
    assert stored.count(DatasetRow) == 1
    others = (
        received("other", PIECES),
        received("points", PIECES, "another"),
        received("points", [*PIECES, BLOCK]),
        received("points", PIECES, reuse=False),
    )
    assert [other.is_new for other in others] == [True] * 4
    assert len({first.dataset.id, *(other.dataset.id for other in others)}) == 5
    assert received("points", PIECES).dataset == first.dataset  # the oldest


def test_a_deleted_dataset_is_not_used_again(stored: SmallDatabase, ingest: Ingest) -> None:
    def received() -> Received:
        kinds: tuple[ColumnKind, ...] = ("number", "category")
        return ingest.receive(
            "me", "points", TableStream(names=("x", "c"), kinds=kinds, blocks=iter(PIECES)), reuse=True
        )

    first = received()
    with stored.transaction() as tx:
        DatasetRepository(tx).delete("me", first.dataset.id)
    assert received().is_new


def test_an_image_of_other_proportions_is_another_dataset(ingest: Ingest) -> None:
    block: Block = {"intensity": numbers(1.0, 2.0)}

    def received(image: Image | None) -> Received:
        return ingest.receive(
            "me",
            "picture",
            TableStream(names=("intensity",), kinds=("number",), blocks=iter([block]), image=image),
            reuse=True,
        )

    assert all(received(image).is_new for image in (Image(1, 2), Image(2, 1), None))
    assert [received(image).is_new for image in (Image(1, 2), Image(2, 1), None)] == [False] * 3


def test_the_response_to_a_keyed_upload_that_repeats_a_dataset_is_kept(stored: SmallDatabase, ingest: Ingest) -> None:
    kinds: tuple[ColumnKind, ...] = ("number", "category")
    first = ingest.receive("me", "points", TableStream(names=("x", "c"), kinds=kinds, blocks=iter(PIECES)))
    ingest.receive(
        "me", "points", TableStream(names=("x", "c"), kinds=kinds, blocks=iter(PIECES)), reuse=True, keyed=keyed()
    )
    assert response(stored) == StoredResponse(201, (), str(first.dataset.id).encode())
    assert stored.count(DatasetRow) == 1
