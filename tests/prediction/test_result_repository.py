from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from app.database.transaction import OpenTransaction
from app.jobs.records import MAX_STARTS, Claim
from app.jobs.repository import JobRepository
from app.prediction import result_repository as under_test
from app.prediction.result_repository import Layer, Piece, ResultProgress, ResultRepository
from app.prediction.tables import PredictionPieceRow, PredictionResultRow
from tests import samples

HERE = "this program"


@pytest.fixture
def job_id(transaction: OpenTransaction) -> UUID:
    """A job that is running, whose result has begun."""
    job_id = samples.running_job(transaction)
    begun(transaction, job_id)
    return job_id


def begun(transaction: OpenTransaction, job_id: UUID, attempt: int = 1, *, by: str = HERE) -> ResultProgress | None:
    with transaction() as tx:
        return ResultRepository(tx).begin(job_id, attempt, by=by)


def put(
    transaction: OpenTransaction,
    job_id: UUID,
    first: int,
    content: bytes,
    reached: ResultProgress | None = None,
    *,
    attempt: int = 1,
    layer: Layer = "file",
) -> bool:
    with transaction() as tx:
        return ResultRepository(tx).put(job_id, attempt, layer, Piece(first, content), reached=reached)


def content(transaction: OpenTransaction, job_id: UUID, layer: Layer = "file") -> bytes:
    found = b""
    while True:
        with transaction() as tx:
            piece = ResultRepository(tx).piece(job_id, layer, len(found))
        if piece is None:
            return found
        assert piece.first == len(found)
        found += piece.content


def rows_left(engine: Engine) -> tuple[int, int]:
    with Session(engine) as session:
        results, pieces = (
            session.scalar(select(func.count()).select_from(table))
            for table in (PredictionResultRow, PredictionPieceRow)
        )
    return results or 0, pieces or 0


def test_pieces_one_after_the_other_are_the_file(transaction: OpenTransaction, job_id: UUID) -> None:
    assert put(transaction, job_id, 0, b"abc")
    assert put(transaction, job_id, 3, b"de", ResultProgress(2, 1, 5))
    assert put(transaction, job_id, 0, b"other", layer="rows")
    assert put(transaction, job_id, 5, b"", ResultProgress(2, 1, 5, whole=True))
    assert content(transaction, job_id) == b"abcde"
    assert content(transaction, job_id, "rows") == b"other"
    with transaction() as tx:
        kept = ResultRepository(tx).find(job_id)
        second = ResultRepository(tx).piece(job_id, "file", 4)
    assert kept is not None
    assert (kept.reached, kept.by, kept.resumption.attempt) == (ResultProgress(2, 1, 5, whole=True), HERE, 1)
    assert second is not None
    assert (second.first, second.content) == (3, b"de")


def test_a_piece_is_put_twice_where_its_first_end_was_not_received(transaction: OpenTransaction, job_id: UUID) -> None:
    for _ in range(2):
        assert put(transaction, job_id, 0, b"abc", ResultProgress(1, 0, 3))
    assert content(transaction, job_id) == b"abc"


def test_bytes_beyond_two_gibibytes_have_a_place(transaction: OpenTransaction, job_id: UUID) -> None:
    far = 2**40
    assert put(transaction, job_id, far, b"abc", ResultProgress(1, 0, far + 3))
    with transaction() as tx:
        found, kept = ResultRepository(tx).piece(job_id, "file", far + 2), ResultRepository(tx).find(job_id)
    assert found is not None
    assert kept is not None
    assert (found.first, kept.reached.size) == (far, far + 3)


def test_the_next_start_goes_on_where_the_last_part_ended(transaction: OpenTransaction, job_id: UUID) -> None:
    put(transaction, job_id, 0, b"abc", ResultProgress(1, 0, 3))
    put(transaction, job_id, 3, b"of a part that was not ended")
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
    assert begun(transaction, job_id, 2) == ResultProgress(1, 0, 3)
    with transaction() as tx:
        assert not ResultRepository(tx).trim(job_id, 2, "file", size=3)
    assert content(transaction, job_id) == b"abc"


def test_another_program_begins_anew_unless_all_is_there(transaction: OpenTransaction, job_id: UUID) -> None:
    put(transaction, job_id, 0, b"abc", ResultProgress(1, 0, 3))
    assert begun(transaction, job_id, by="another") == ResultProgress()
    assert begun(transaction, job_id, by="another") == ResultProgress()
    put(transaction, job_id, 0, b"abcd", ResultProgress(2, 0, 4, whole=True))
    assert begun(transaction, job_id) == ResultProgress(2, 0, 4, whole=True)


def test_a_superseded_start_writes_nothing(transaction: OpenTransaction, job_id: UUID) -> None:
    put(transaction, job_id, 0, b"abc", ResultProgress(1, 0, 3))
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
    assert begun(transaction, job_id) is None
    assert not put(transaction, job_id, 3, b"de", ResultProgress(2, 0, 5))
    with transaction() as tx:
        assert not ResultRepository(tx).trim(job_id, 1, "file", size=0)
    assert content(transaction, job_id) == b"abc"


def test_a_job_that_comes_further_each_time_is_not_given_up(transaction: OpenTransaction, job_id: UUID) -> None:
    for attempt in range(2, 2 + 2 * MAX_STARTS):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
        put(transaction, job_id, attempt, b"x", ResultProgress(attempt, 0, attempt + 1), attempt=attempt)


def test_what_is_behind_is_removed_in_pieces(
    transaction: OpenTransaction, job_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "PIECES_AT_ONCE", 2)
    for first in range(5):
        put(transaction, job_id, first, b"x")
        put(transaction, job_id, first, b"y", layer="rows")
    more: list[bool] = []
    while not more or more[-1]:
        with transaction() as tx:
            more.append(ResultRepository(tx).trim(job_id, 1, "file", size=2))
    assert more == [True, False]
    assert (content(transaction, job_id), content(transaction, job_id, "rows")) == (b"xx", b"yyyyy")


def test_results_are_forgotten_for_their_age_and_at_once_where_their_job_did_not_end_well(
    engine: Engine, transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "PIECES_AT_ONCE", 2)
    running, failed = samples.running_job(transaction), samples.running_job(transaction)
    for job_id in (running, failed):
        begun(transaction, job_id)
        for first in range(3):
            put(transaction, job_id, first, b"x", ResultProgress(3, 0, 3, whole=True))
    with transaction() as tx:
        JobRepository(tx).fail(failed, 1, samples.PROBLEM)

    def remove_expired(older_than: float) -> int:
        rounds = 0
        while True:
            with transaction() as tx:
                if ResultRepository(tx).remove_expired(older_than=older_than) is None:
                    return rounds
            rounds += 1

    assert remove_expired(3600.0) == 2
    assert rows_left(engine) == (1, 3)
    assert content(transaction, running) == b"xxx"
    with transaction() as tx:
        assert ResultRepository(tx).forget(running)
        kept = ResultRepository(tx).find(running)
    assert kept is not None
    assert not kept.reached.whole
    with transaction() as tx:
        assert not ResultRepository(tx).forget(running)
    assert rows_left(engine) == (0, 0)


def test_a_job_that_is_removed_takes_its_result_along(
    engine: Engine, transaction: OpenTransaction, job_id: UUID
) -> None:
    put(transaction, job_id, 0, b"abc")
    with Session(engine) as session, session.begin():
        session.execute(update(PredictionResultRow).values(whole=True))
    assert rows_left(engine) == (1, 1)
