from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import Engine, text

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction, now
from app.datasets.records import Dataset
from app.datasets.repository import BLOCKS_AT_ONCE, DatasetRepository, cell_bytes
from app.errors import ConflictError, InUseError
from app.jobs.repository import JobRepository
from app.registry.submission import submit
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError, NotFoundError
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from tests import samples
from tests.transactions import HandClock


def test_a_dataset_comes_back_as_it_was_stored(transaction: OpenTransaction) -> None:
    stored = samples.stored_dataset(transaction)
    with transaction() as tx:
        found = DatasetRepository(tx).get(samples.OWNER, stored.id)
    assert found == stored
    assert found == Dataset(
        id=stored.id,
        owner=samples.OWNER,
        name="houses",
        created_at=samples.AT,
        rows=8,
        digest="ab" * 32,
        columns=samples.COLUMNS,
    )
    assert found.created_at.utcoffset() == timedelta(0)


def test_blocks_come_back_in_order_and_then_there_is_none(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        first_rows = []
        for number in range(2):
            found = DatasetRepository(tx).block(dataset.id, number)
            assert found is not None
            first_rows.append(found[0])
            required, got = samples.block(4, seed=number)["colour 😀"], found[1]["colour 😀"]
            assert isinstance(required, CategoryArray)
            assert isinstance(got, CategoryArray)
            assert got.labels == required.labels
            assert got.codes.tolist() == required.codes.tolist()
        assert first_rows == [0, 4]
        assert DatasetRepository(tx).block(dataset.id, 2) is None


def test_the_block_of_a_row_is_found(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        assert [DatasetRepository(tx).block_holding(dataset.id, row) for row in range(8)] == [0, 0, 0, 0, 1, 1, 1, 1]
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).block_holding(dataset.id, 8)


def test_an_upload_is_invisible_until_it_is_finished(transaction: OpenTransaction) -> None:
    upload = samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        DatasetRepository(tx).append(upload.id, 0, 0, samples.block())
    with transaction() as tx:
        assert DatasetRepository(tx).page(samples.OWNER, PageRequest(10)).items == ()
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).get(samples.OWNER, upload.id)
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).delete(samples.OWNER, upload.id)
    with pytest.raises(NotFoundError), transaction() as tx:
        submit(tx, samples.new_job(upload.id))


def test_a_discarded_upload_leaves_nothing(transaction: OpenTransaction, engine: Engine) -> None:
    upload = samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        DatasetRepository(tx).append(upload.id, 0, 0, samples.block())
    with transaction() as tx:
        assert not DatasetRepository(tx).discard(upload.id)
    assert _counts(engine) == (0, 0)
    with pytest.raises(NotFoundError), transaction() as tx:
        DatasetRepository(tx).append(upload.id, 1, 4, samples.block())
    with pytest.raises(NotFoundError), transaction() as tx:
        DatasetRepository(tx).finish(upload.id, rows=4, digest="", columns=())


def test_a_finished_dataset_is_neither_discarded_nor_added_to(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        assert not DatasetRepository(tx).discard(dataset.id)
    with pytest.raises(NotFoundError), transaction() as tx:
        DatasetRepository(tx).append(dataset.id, 2, 8, samples.block())
    with transaction() as tx:
        assert DatasetRepository(tx).get(samples.OWNER, dataset.id) == dataset


def test_the_cleanup_takes_uploads_that_fell_silent_and_nothing_else(
    transaction: OpenTransaction, engine: Engine, clock: HandClock
) -> None:
    samples.stored_dataset(transaction)
    silent, alive = samples.upload(), samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(silent)
        DatasetRepository(tx).begin(alive)
    between = clock()
    with transaction() as tx:
        DatasetRepository(tx).append(alive.id, 0, 0, samples.block())
    with transaction() as tx:
        assert DatasetRepository(tx).remove_expired(not_written_since=between)
        assert not DatasetRepository(tx).remove_expired(not_written_since=between)
    assert _counts(engine) == (2, 3)
    with transaction() as tx:
        assert DatasetRepository(tx).remove_expired(not_written_since=clock())
    assert _counts(engine) == (1, 2)


def test_what_is_large_goes_in_pieces_and_is_invisible_from_the_first(
    transaction: OpenTransaction, engine: Engine, clock: HandClock
) -> None:
    dataset = samples.stored_dataset(transaction, blocks=2 * BLOCKS_AT_ONCE + 1)
    with transaction() as tx:
        DatasetRepository(tx).delete(samples.OWNER, dataset.id)
    assert _counts(engine) == (1, BLOCKS_AT_ONCE + 1)
    with transaction() as tx:
        assert DatasetRepository(tx).page(samples.OWNER, PageRequest(9)).items == ()
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).get(samples.OWNER, dataset.id)
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).delete(samples.OWNER, dataset.id)
        with pytest.raises(NotFoundError):
            submit(tx, samples.new_job(dataset.id))
    deleted = []
    for _ in range(3):
        with transaction() as tx:
            deleted.append(DatasetRepository(tx).remove_expired(not_written_since=clock()))
    assert deleted == [True, True, False]
    assert _counts(engine) == (0, 0)


def test_a_large_upload_is_discarded_in_pieces(transaction: OpenTransaction, engine: Engine) -> None:
    upload = samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        for number in range(BLOCKS_AT_ONCE + 1):
            DatasetRepository(tx).append(upload.id, number, 4 * number, samples.block())
    with transaction() as tx:
        assert DatasetRepository(tx).discard(upload.id)
    with pytest.raises(NotFoundError), transaction() as tx:
        DatasetRepository(tx).append(upload.id, 99, 400, samples.block())
    with transaction() as tx:
        assert not DatasetRepository(tx).discard(upload.id)
    assert _counts(engine) == (0, 0)


def test_a_block_number_is_used_once(transaction: OpenTransaction) -> None:
    upload = samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        DatasetRepository(tx).append(upload.id, 0, 0, samples.block())
    with pytest.raises(ConflictError), transaction() as tx:
        DatasetRepository(tx).append(upload.id, 0, 4, samples.block())


def test_ten_thousand_columns_can_be_kept(transaction: OpenTransaction) -> None:
    upload = samples.upload()
    wide = {f"column {number}": NumberArray(np.zeros(2)) for number in range(10_000)}
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        DatasetRepository(tx).append(upload.id, 0, 0, wide)
    with transaction() as tx:
        found = DatasetRepository(tx).block(upload.id, 0)
    assert found is not None
    assert list(found[1]) == list(wide)


def test_others_datasets_are_not_found(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        assert DatasetRepository(tx).page(samples.STRANGER, PageRequest(10)).items == ()
        for refused in (DatasetRepository(tx).get, DatasetRepository(tx).delete):
            with pytest.raises(NotFoundError):
                refused(samples.STRANGER, dataset.id)
        with pytest.raises(NotFoundError):
            DatasetRepository(tx).get(samples.OWNER, uuid4())


def test_pages_run_from_the_newest_to_the_oldest(transaction: OpenTransaction) -> None:
    made = [samples.stored_dataset(transaction, name=f"d{number}", blocks=0) for number in range(5)]
    made.sort(key=lambda dataset: dataset.id, reverse=True)
    seen: list[Dataset] = []
    after, pages = None, 0
    while after is not None or not pages:
        with transaction() as tx:
            page = DatasetRepository(tx).page(samples.OWNER, PageRequest(2, after))
        seen += page.items
        after, pages = page.next, pages + 1
    assert seen == made
    assert pages == 3


def test_pages_run_from_the_oldest_too_and_keep_to_a_name(transaction: OpenTransaction) -> None:
    made = [samples.stored_dataset(transaction, name=name, blocks=0) for name in ("a", "b", "a", "a")]
    made.sort(key=lambda dataset: dataset.id)
    with transaction() as tx:
        first = DatasetRepository(tx).page(samples.OWNER, PageRequest(2, order="oldest"))
        rest = DatasetRepository(tx).page(samples.OWNER, PageRequest(2, first.next, "oldest"))
        back = DatasetRepository(tx).page(samples.OWNER, PageRequest(2, rest.next or first.next, "newest"))
        named = DatasetRepository(tx).page(samples.OWNER, PageRequest(9), name="a")
    assert ([*first.items, *rest.items], rest.next) == (made, None)
    assert list(back.items) == [made[0]]
    assert list(named.items) == [dataset for dataset in reversed(made) if dataset.name == "a"]


def test_a_page_after_nonsense_is_refused(transaction: OpenTransaction) -> None:
    with pytest.raises(InvalidRequestError), transaction() as tx:
        DatasetRepository(tx).page(samples.OWNER, PageRequest(2, "nonsense"))


def test_deleting_removes_the_blocks(transaction: OpenTransaction, engine: Engine) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        DatasetRepository(tx).delete(samples.OWNER, dataset.id)
    assert _counts(engine) == (0, 0)


def test_a_dataset_can_not_be_deleted_while_an_unfinished_job_needs_it(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    job_id = samples.queued_job(transaction, dataset_id=dataset.id)
    for _ in range(2):
        with pytest.raises(InUseError, match="unfinished"), transaction() as tx:
            DatasetRepository(tx).delete(samples.OWNER, dataset.id)
        with transaction() as tx:
            JobRepository(tx).claim(job_id)
    with transaction() as tx:
        assert JobRepository(tx).fail(job_id, 2, samples.PROBLEM)
    with transaction() as tx:
        DatasetRepository(tx).delete(samples.OWNER, dataset.id)
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, job_id).dataset_id == dataset.id


def test_of_a_delete_and_a_new_job_at_once_only_one_succeeds(transaction: OpenTransaction) -> None:
    def add() -> bool:
        with transaction() as tx:
            submit(tx, samples.new_job(dataset.id))
        return True

    def remove() -> bool:
        with transaction() as tx:
            DatasetRepository(tx).delete(samples.OWNER, dataset.id)
        return True

    def attempt(action: object) -> bool:
        try:
            return add() if action == "add" else remove()
        except (NotFoundError, InUseError):
            return False

    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            dataset = samples.stored_dataset(transaction, blocks=0)
            done = list(pool.map(attempt, ["add", "remove"], timeout=30))
            assert sorted(done) == [False, True]


def test_a_name_that_is_no_text_is_refused(transaction: OpenTransaction) -> None:
    with pytest.raises(InvalidDataError, match="surrogate"), transaction() as tx:
        DatasetRepository(tx).begin(samples.upload(name="half \ud800"))


def test_the_default_clock_is_in_utc() -> None:
    assert now().utcoffset() == timedelta(0)


def _counts(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        datasets = connection.execute(text("SELECT count(*) FROM datasets")).scalar_one()
        return datasets, connection.execute(text("SELECT count(*) FROM dataset_blocks")).scalar_one()


def test_a_text_is_counted_wherever_it_occurs(transaction: OpenTransaction) -> None:
    """A text of 30,000 bytes in each of 100 rows takes a few hundred bytes once it is compressed."""
    long = "\u00e9" * 15_000
    block: Block = {"t": CategoryArray(np.zeros(100, np.int32), (long,)), "n": NumberArray(np.zeros(100))}
    assert cell_bytes(block) == 100 * (30_000 + 4 + 8)
    upload = samples.upload()
    with transaction() as tx:
        DatasetRepository(tx).begin(upload)
        DatasetRepository(tx).append(upload.id, 0, 0, block)
        assert DatasetRepository(tx).stored_bytes(upload.owner) == cell_bytes(block)
