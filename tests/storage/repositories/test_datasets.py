from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import Engine, text

from app.domain.datasets import Dataset
from app.domain.ports import OpenUnitOfWork, PageRequest
from app.errors import ConflictError, InUseError
from app.storage.repositories.removal import BLOCKS_AT_ONCE
from app.storage.unit_of_work import now
from relevance_bayes.tables.columns import CategoryColumn, NumberColumn
from relevance_bayes.types.errors import InvalidDataError, InvalidRequestError, NotFoundError
from tests.storage import samples
from tests.storage.conftest import HandClock


def test_a_dataset_comes_back_as_it_was_stored(open_uow: OpenUnitOfWork) -> None:
    stored = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        found = uow.datasets.get(samples.OWNER, stored.id)
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


def test_blocks_come_back_in_order_and_then_there_is_none(open_uow: OpenUnitOfWork) -> None:
    dataset = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        first_rows = []
        for number in range(2):
            found = uow.datasets.block(dataset.id, number)
            assert found is not None
            first_rows.append(found[0])
            required, got = samples.block(4, seed=number)["colour 😀"], found[1]["colour 😀"]
            assert isinstance(required, CategoryColumn)
            assert isinstance(got, CategoryColumn)
            assert got.labels == required.labels
            assert got.codes.tolist() == required.codes.tolist()
        assert first_rows == [0, 4]
        assert uow.datasets.block(dataset.id, 2) is None


def test_the_block_of_a_row_is_found(open_uow: OpenUnitOfWork) -> None:
    dataset = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        assert [uow.datasets.block_holding(dataset.id, row) for row in range(8)] == [0, 0, 0, 0, 1, 1, 1, 1]
        with pytest.raises(NotFoundError):
            uow.datasets.block_holding(dataset.id, 8)


def test_an_upload_is_invisible_until_it_is_finished(open_uow: OpenUnitOfWork) -> None:
    upload = samples.upload()
    with open_uow() as uow:
        uow.datasets.begin(upload)
        uow.datasets.append(upload.id, 0, 0, samples.block())
    with open_uow() as uow:
        assert uow.datasets.page(samples.OWNER, PageRequest(10)).items == ()
        with pytest.raises(NotFoundError):
            uow.datasets.get(samples.OWNER, upload.id)
        with pytest.raises(NotFoundError):
            uow.datasets.delete(samples.OWNER, upload.id)
    with pytest.raises(NotFoundError), open_uow() as uow:
        uow.jobs.add(samples.new_job(upload.id))


def test_a_discarded_upload_leaves_nothing(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    upload = samples.upload()
    with open_uow() as uow:
        uow.datasets.begin(upload)
        uow.datasets.append(upload.id, 0, 0, samples.block())
    with open_uow() as uow:
        assert not uow.datasets.discard(upload.id)
    assert _counts(engine) == (0, 0)
    with pytest.raises(NotFoundError), open_uow() as uow:
        uow.datasets.append(upload.id, 1, 4, samples.block())
    with pytest.raises(NotFoundError), open_uow() as uow:
        uow.datasets.finish(upload.id, rows=4, digest="", columns=())


def test_a_finished_dataset_is_neither_discarded_nor_added_to(open_uow: OpenUnitOfWork) -> None:
    dataset = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        assert not uow.datasets.discard(dataset.id)
    with pytest.raises(NotFoundError), open_uow() as uow:
        uow.datasets.append(dataset.id, 2, 8, samples.block())
    with open_uow() as uow:
        assert uow.datasets.get(samples.OWNER, dataset.id) == dataset


def test_the_sweep_takes_uploads_that_fell_silent_and_nothing_else(
    open_uow: OpenUnitOfWork, engine: Engine, clock: HandClock
) -> None:
    samples.stored_dataset(open_uow)
    silent, alive = samples.upload(), samples.upload()
    with open_uow() as uow:
        uow.datasets.begin(silent)
        uow.datasets.begin(alive)
    between = clock()
    with open_uow() as uow:
        uow.datasets.append(alive.id, 0, 0, samples.block())
    with open_uow() as uow:
        assert uow.datasets.remove_expired(not_written_since=between)
        assert not uow.datasets.remove_expired(not_written_since=between)
    assert _counts(engine) == (2, 3)
    with open_uow() as uow:
        assert uow.datasets.remove_expired(not_written_since=clock())
    assert _counts(engine) == (1, 2)


def test_what_is_large_goes_in_pieces_and_is_invisible_from_the_first(
    open_uow: OpenUnitOfWork, engine: Engine, clock: HandClock
) -> None:
    dataset = samples.stored_dataset(open_uow, blocks=2 * BLOCKS_AT_ONCE + 1)
    with open_uow() as uow:
        uow.datasets.delete(samples.OWNER, dataset.id)
    assert _counts(engine) == (1, BLOCKS_AT_ONCE + 1)
    with open_uow() as uow:
        assert uow.datasets.page(samples.OWNER, PageRequest(9)).items == ()
        with pytest.raises(NotFoundError):
            uow.datasets.get(samples.OWNER, dataset.id)
        with pytest.raises(NotFoundError):
            uow.datasets.delete(samples.OWNER, dataset.id)
        with pytest.raises(NotFoundError):
            uow.jobs.add(samples.new_job(dataset.id))
    swept = []
    for _ in range(3):
        with open_uow() as uow:
            swept.append(uow.datasets.remove_expired(not_written_since=clock()))
    assert swept == [True, True, False]
    assert _counts(engine) == (0, 0)


def test_a_large_upload_is_discarded_in_pieces(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    upload = samples.upload()
    with open_uow() as uow:
        uow.datasets.begin(upload)
        for number in range(BLOCKS_AT_ONCE + 1):
            uow.datasets.append(upload.id, number, 4 * number, samples.block())
    with open_uow() as uow:
        assert uow.datasets.discard(upload.id)
    with pytest.raises(NotFoundError), open_uow() as uow:
        uow.datasets.append(upload.id, 99, 400, samples.block())
    with open_uow() as uow:
        assert not uow.datasets.discard(upload.id)
    assert _counts(engine) == (0, 0)


def test_a_block_number_is_used_once(open_uow: OpenUnitOfWork) -> None:
    upload = samples.upload()
    with open_uow() as uow:
        uow.datasets.begin(upload)
        uow.datasets.append(upload.id, 0, 0, samples.block())
    with pytest.raises(ConflictError), open_uow() as uow:
        uow.datasets.append(upload.id, 0, 4, samples.block())


def test_ten_thousand_columns_can_be_kept(open_uow: OpenUnitOfWork) -> None:
    upload = samples.upload()
    wide = {f"column {number}": NumberColumn(np.zeros(2)) for number in range(10_000)}
    with open_uow() as uow:
        uow.datasets.begin(upload)
        uow.datasets.append(upload.id, 0, 0, wide)
    with open_uow() as uow:
        found = uow.datasets.block(upload.id, 0)
    assert found is not None
    assert list(found[1]) == list(wide)


def test_others_datasets_are_not_found(open_uow: OpenUnitOfWork) -> None:
    dataset = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        assert uow.datasets.page(samples.STRANGER, PageRequest(10)).items == ()
        for refused in (uow.datasets.get, uow.datasets.delete):
            with pytest.raises(NotFoundError):
                refused(samples.STRANGER, dataset.id)
        with pytest.raises(NotFoundError):
            uow.datasets.get(samples.OWNER, uuid4())


def test_pages_run_from_the_newest_to_the_oldest(open_uow: OpenUnitOfWork) -> None:
    made = [samples.stored_dataset(open_uow, name=f"d{number}", blocks=0) for number in range(5)]
    made.sort(key=lambda dataset: dataset.id, reverse=True)
    seen: list[Dataset] = []
    after, pages = None, 0
    while after is not None or not pages:
        with open_uow() as uow:
            page = uow.datasets.page(samples.OWNER, PageRequest(2, after))
        seen += page.items
        after, pages = page.next, pages + 1
    assert seen == made
    assert pages == 3


def test_pages_run_from_the_oldest_too_and_keep_to_a_name(open_uow: OpenUnitOfWork) -> None:
    made = [samples.stored_dataset(open_uow, name=name, blocks=0) for name in ("a", "b", "a", "a")]
    made.sort(key=lambda dataset: dataset.id)
    with open_uow() as uow:
        first = uow.datasets.page(samples.OWNER, PageRequest(2, order="oldest"))
        rest = uow.datasets.page(samples.OWNER, PageRequest(2, first.next, "oldest"))
        back = uow.datasets.page(samples.OWNER, PageRequest(2, rest.next or first.next, "newest"))
        named = uow.datasets.page(samples.OWNER, PageRequest(9), name="a")
    assert ([*first.items, *rest.items], rest.next) == (made, None)
    assert list(back.items) == [made[0]]
    assert list(named.items) == [dataset for dataset in reversed(made) if dataset.name == "a"]


def test_a_page_after_nonsense_is_refused(open_uow: OpenUnitOfWork) -> None:
    with pytest.raises(InvalidRequestError), open_uow() as uow:
        uow.datasets.page(samples.OWNER, PageRequest(2, "nonsense"))


def test_deleting_removes_the_blocks(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    dataset = samples.stored_dataset(open_uow)
    with open_uow() as uow:
        uow.datasets.delete(samples.OWNER, dataset.id)
    assert _counts(engine) == (0, 0)


def test_a_dataset_can_not_be_deleted_while_an_unfinished_job_needs_it(open_uow: OpenUnitOfWork) -> None:
    dataset = samples.stored_dataset(open_uow)
    job_id = samples.queued_job(open_uow, dataset_id=dataset.id)
    for _ in range(2):
        with pytest.raises(InUseError, match="unfinished"), open_uow() as uow:
            uow.datasets.delete(samples.OWNER, dataset.id)
        with open_uow() as uow:
            uow.jobs.claim(job_id)
    with open_uow() as uow:
        assert uow.jobs.fail(job_id, 2, samples.PROBLEM)
    with open_uow() as uow:
        uow.datasets.delete(samples.OWNER, dataset.id)
    with open_uow() as uow:
        assert uow.jobs.get(samples.OWNER, job_id).request.dataset_id == dataset.id


def test_of_a_delete_and_a_new_job_at_once_only_one_succeeds(open_uow: OpenUnitOfWork) -> None:
    def add() -> bool:
        with open_uow() as uow:
            uow.jobs.add(samples.new_job(dataset.id))
        return True

    def remove() -> bool:
        with open_uow() as uow:
            uow.datasets.delete(samples.OWNER, dataset.id)
        return True

    def attempt(action: object) -> bool:
        try:
            return add() if action == "add" else remove()
        except (NotFoundError, InUseError):
            return False

    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            dataset = samples.stored_dataset(open_uow, blocks=0)
            done = list(pool.map(attempt, ["add", "remove"], timeout=30))
            assert sorted(done) == [False, True]


def test_a_name_that_is_no_text_is_refused(open_uow: OpenUnitOfWork) -> None:
    with pytest.raises(InvalidDataError, match="surrogate"), open_uow() as uow:
        uow.datasets.begin(samples.upload(name="half \ud800"))


def test_the_default_clock_is_in_utc() -> None:
    assert now().utcoffset() == timedelta(0)


def _counts(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        datasets = connection.execute(text("SELECT count(*) FROM datasets")).scalar_one()
        return datasets, connection.execute(text("SELECT count(*) FROM dataset_blocks")).scalar_one()
