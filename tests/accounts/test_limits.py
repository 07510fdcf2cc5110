"""Quotas on both databases: each is checked in the transaction that adds to what it limits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import update

from app.accounts.limit_repository import OwnerLimitsRepository
from app.database.transaction import OpenTransaction, now
from app.datasets.ingest import Ingest
from app.datasets.repository import DatasetRepository
from app.errors import QuotaExceededError, TooManyJobsError, TrainingTimeError
from app.formats.streams import TableStream
from app.jobs.repository import JobRepository
from app.jobs.tables import JobRow
from app.registry.repository import ModelRepository
from app.registry.submission import check_model_quota
from app.services import use_of
from app.tasks.service import TrainingService
from relevance_bayes.records.accounts import OwnerUse
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests import samples
from tests.samples import OWNER, STRANGER
from tests.small_tables import numbers
from tests.transactions import HandClock

N_THREADS = 6
TABLE: Block = {"x": numbers(0.0, 1.0, 2.0, 3.0, 4.0), "y": numbers(0.5, 1.1, 2.3, 2.9, 4.2)}


def limit(transaction: OpenTransaction, **limits: int | None) -> None:
    """Set the limits of the owner."""
    with transaction() as tx:
        OwnerLimitsRepository(tx).set(OWNER, limits)


def use(transaction: OpenTransaction, owner: str = OWNER) -> OwnerUse:
    with transaction() as tx:
        return use_of(tx, owner)


def uploaded(transaction: OpenTransaction, owner: str = OWNER, blocks: int = 1) -> SupervisedRequest:
    """A request to train on a dataset that was uploaded just now."""
    pieces: Iterator[Block] = iter([TABLE] * blocks)
    made = (
        Ingest(transaction, now)
        .receive(owner, "points", TableStream(names=("x", "y"), kinds=("number",) * 2, blocks=pieces))
        .dataset
    )
    return SupervisedRequest(made.id, "y")


def successes(call: Callable[[int], object], error: type[RelevanceError]) -> int:
    """The number of concurrent calls that succeed; the others raise this error."""
    together = Barrier(N_THREADS)

    def attempt(number: int) -> bool:
        together.wait()
        try:
            call(number)
        except error:
            return False
        return True

    with ThreadPoolExecutor(N_THREADS) as threads:
        return sum(threads.map(attempt, range(N_THREADS)))


def test_an_owner_has_at_most_so_many_datasets_and_others_have_theirs(transaction: OpenTransaction) -> None:
    limit(transaction, datasets=2)
    dataset = uploaded(transaction).dataset_id
    uploaded(transaction)
    with pytest.raises(QuotaExceededError, match="at most 2 datasets"):
        uploaded(transaction)
    uploaded(transaction, STRANGER)
    assert (use(transaction).datasets, use(transaction, STRANGER).datasets) == (2, 1)
    with transaction() as tx:
        DatasetRepository(tx).delete(OWNER, dataset)
    uploaded(transaction)
    assert use(transaction).datasets == 2
    limit(transaction, datasets=0)
    assert use(transaction).datasets == 2  # a lower limit deletes nothing


def test_bytes_are_those_of_all_blocks_and_a_refused_upload_leaves_none(transaction: OpenTransaction) -> None:
    uploaded(transaction)
    size = use(transaction).dataset_bytes
    assert size > 5 * 2 * 8
    uploaded(transaction, blocks=2)
    assert use(transaction).dataset_bytes == 3 * size
    limit(transaction, dataset_bytes=5 * size)
    with pytest.raises(QuotaExceededError, match=f"at most {5 * size} bytes of datasets"):
        uploaded(transaction, blocks=3)
    assert use(transaction).dataset_bytes == 3 * size
    uploaded(transaction, blocks=2)
    assert use(transaction).dataset_bytes == 5 * size
    uploaded(transaction, STRANGER)


def test_an_owner_has_at_most_so_many_models_and_unfinished_trainings_count(transaction: OpenTransaction) -> None:
    training, request = TrainingService(transaction, now), uploaded(transaction)
    limit(transaction, models=2)
    first = training.submit(OWNER, with_model(request, "one"))
    training.submit(OWNER, with_model(request, "two"))
    assert use(transaction).models == 2
    training.submit(OWNER, with_model(request, "one"))
    with pytest.raises(QuotaExceededError, match="at most 2 models"):
        training.submit(OWNER, with_model(request, "three"))
    with pytest.raises(QuotaExceededError), transaction() as tx:
        check_model_quota(tx, OWNER, "imported")
    assert (use(transaction).models, use(transaction).unfinished_jobs) == (2, 3)
    for job in (first,):
        with transaction() as tx:
            JobRepository(tx).request_cancel(OWNER, job.id)
    assert use(transaction).models == 2  # another training of "one" is queued
    assert training.submit(STRANGER, with_model(uploaded(transaction, STRANGER), "three")).for_model == "three"


def test_a_model_that_exists_counts_once_and_may_have_more_versions(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        made = ModelRepository(tx).add(OWNER, samples.new_version())
    limit(transaction, models=1)
    with transaction() as tx:
        check_model_quota(tx, OWNER, made.model)
        with pytest.raises(QuotaExceededError):
            check_model_quota(tx, OWNER, "another")
    assert use(transaction).models == 1
    with transaction() as tx:
        ModelRepository(tx).delete(OWNER, made.model)
        check_model_quota(tx, OWNER, "another")
    assert use(transaction).models == 0


def test_an_owner_has_at_most_so_many_unfinished_jobs(transaction: OpenTransaction) -> None:
    training, request = TrainingService(transaction, now), uploaded(transaction)
    limit(transaction, unfinished_jobs=1)
    job = training.submit(OWNER, request)
    with pytest.raises(TooManyJobsError, match="1 jobs are unfinished"):
        training.submit(OWNER, request)
    with transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, job.id)
    training.submit(OWNER, request)


def test_training_jobs_run_for_so_long_in_a_day(transaction: OpenTransaction, clock: HandClock) -> None:
    training, request = TrainingService(transaction, now), uploaded(transaction)
    limit(transaction, training_seconds_per_day=3_600)
    clock.now = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    job = training.submit(OWNER, request)
    with transaction() as tx:
        JobRepository(tx).claim(job.id)
        assert use_of(tx, OWNER).training_seconds_per_day == pytest.approx(0, abs=10)
        times = {"started_at": datetime(2026, 2, 28, 23, 30, tzinfo=UTC)}
        tx.session.execute(update(JobRow).where(JobRow.id == job.id).values(**times))
    assert use(transaction).training_seconds_per_day == pytest.approx(1_800, abs=10)  # since midnight
    training.submit(OWNER, request)
    clock.now = datetime(2026, 3, 1, 1, 0, tzinfo=UTC)
    with pytest.raises(TrainingTimeError, match="run for 3,600 seconds") as refusal:
        training.submit(OWNER, request)
    assert refusal.value.retry_after == pytest.approx(23 * 3_600, abs=10)
    with transaction() as tx:
        JobRepository(tx).succeed(job.id, 1)
    clock.now += timedelta(hours=5)
    assert use(transaction).training_seconds_per_day == pytest.approx(3_600, abs=20)
    with pytest.raises(TrainingTimeError):
        training.submit(OWNER, request)
    clock.now = datetime(2026, 3, 2, 0, 0, tzinfo=UTC)
    assert use(transaction).training_seconds_per_day == 0.0
    training.submit(OWNER, request)


def test_concurrent_uploads_do_not_pass_the_quotas_of_datasets_and_bytes(transaction: OpenTransaction) -> None:
    limit(transaction, datasets=2)
    assert successes(lambda _: uploaded(transaction), QuotaExceededError) == 2
    assert use(transaction).datasets == 2
    size = use(transaction).dataset_bytes // 2
    limit(transaction, dataset_bytes=4 * size + 1)
    assert successes(lambda _: uploaded(transaction), QuotaExceededError) == 2
    assert use(transaction).dataset_bytes == 4 * size


def test_concurrent_submissions_do_not_pass_the_quotas_of_jobs_and_models(transaction: OpenTransaction) -> None:
    training, request = TrainingService(transaction, now), uploaded(transaction)
    limit(transaction, unfinished_jobs=2)
    assert successes(lambda _: training.submit(OWNER, request), TooManyJobsError) == 2
    assert use(transaction).unfinished_jobs == 2
    limit(transaction, models=3)

    def submit(number: int) -> None:
        training.submit(OWNER, with_model(request, f"model-{number}"))

    assert successes(submit, QuotaExceededError) == 2
    assert use(transaction).models == 3


def with_model(request: SupervisedRequest, name: str) -> SupervisedRequest:
    return SupervisedRequest(request.dataset_id, request.target, model=name)
