import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.errors import ConflictError
from app.jobs.records import Claim, JobActivity, JobFilter
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import BacklogRepository
from app.registry.repository import ModelRepository
from app.registry.submission import submit
from app.registry.trainings import TRAINING
from app.tasks.service import finish_training
from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, Inputs
from relevance_bayes.core.kernels import Matern52
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import MOVES, JobState, Progress
from relevance_bayes.tasks.supervised.request import BasisChoice, KernelChoice, SupervisedPlan, SupervisedRequest
from tests import samples
from tests.narrowing import of_kind


def test_a_job_comes_back_as_it_was_added(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    job = samples.new_job(dataset.id)
    with transaction() as tx:
        submit(tx, job)
    with transaction() as tx:
        found = JobRepository(tx).get(samples.OWNER, job.id)
    assert (found.id, found.state, found.attempt, found.created_at) == (job.id, "queued", 0, samples.AT)
    assert (found.request, found.plan) == (job.request, job.plan)
    assert [type(label) for label in of_kind(SupervisedPlan, TRAINING.read(found)[1]).classes] == [
        int,
        float,
        bool,
        str,
        int,
    ]
    assert [(move.state, move.at, move.attempt) for move in found.transitions] == [("queued", samples.AT, 0)]
    assert (found.priority, found.retry_of) == (0, None)


def test_a_job_that_does_another_again_reports_it_and_keeps_its_priority(transaction: OpenTransaction) -> None:
    dataset, first = samples.stored_dataset(transaction), uuid4()
    job = replace(samples.new_job(dataset.id), priority=-7, retry_of=first)
    with transaction() as tx:
        submit(tx, job)
    with transaction() as tx:
        found = JobRepository(tx).get(samples.OWNER, job.id)
    assert (found.priority, found.retry_of) == (-7, first)


@pytest.mark.parametrize(
    "basis",
    [
        KernelChoice(),
        KernelChoice(Matern52(), EvidencePerInputWidth(), "evidence"),
        Inputs(),
        (KernelChoice(width=FixedWidth(0.1)), Bias(), Inputs()),
    ],
)
def test_what_was_stated_and_what_was_not_come_back(
    transaction: OpenTransaction, basis: BasisChoice | tuple[BasisChoice, ...]
) -> None:
    dataset = samples.stored_dataset(transaction)
    job = samples.new_job(dataset.id)
    request = of_kind(SupervisedRequest, TRAINING.read(job)[0])
    request = replace(request, prior=GaussianProcess(max_functions=7), algorithm=Greedy(), basis=basis)
    job = replace(job, request=TRAINING.request.write(request))
    with transaction() as tx:
        submit(tx, job)
    with transaction() as tx:
        assert TRAINING.read(JobRepository(tx).get(samples.OWNER, job.id))[0] == request


def test_a_job_needs_a_dataset_of_its_owner(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    for job in (samples.new_job(uuid4()), samples.new_job(dataset.id, owner=samples.STRANGER)):
        with pytest.raises(NotFoundError), transaction() as tx:
            submit(tx, job)
        with transaction() as tx:
            assert JobRepository(tx).find(job.id) is None


def test_others_jobs_are_not_found(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        for refused in (JobRepository(tx).get, JobRepository(tx).request_cancel):
            with pytest.raises(NotFoundError):
                refused(samples.STRANGER, job_id)
        with pytest.raises(NotFoundError):
            JobRepository(tx).events(samples.STRANGER, job_id, limit=9, after=0)
        assert JobRepository(tx).page(samples.STRANGER, PageRequest(9)).items == ()
        assert JobRepository(tx).find(job_id) is not None


def test_each_claim_is_a_new_attempt(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for attempt in (1, 2, 3):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, job_id)
    assert (job.state, job.attempt) == ("running", 3)
    assert [(move.state, move.attempt) for move in job.transitions] == [
        ("queued", 0),
        ("running", 1),
        ("running", 2),
        ("running", 3),
    ]
    assert job.started_at == job.transitions[1].at


def test_claims_at_once_get_different_attempts(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)

    def claim(_: int) -> int:
        with transaction() as tx:
            claimed = JobRepository(tx).claim(job_id)
        assert claimed is not None
        return 0 if claimed.spent else claimed.attempt

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(claim, range(8), timeout=30)) == [0, 0, 0, 0, 0, 1, 2, 3]


def test_a_job_whose_starts_died_is_started_three_times(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    claims = []
    for _ in range(5):
        with transaction() as tx:
            claims.append(JobRepository(tx).claim(job_id))
    assert claims == [Claim(1), Claim(2), Claim(3), Claim(3, spent=True), Claim(3, spent=True)]
    with transaction() as tx:
        assert JobRepository(tx).fail(job_id, 3, samples.PROBLEM)


def test_progress_between_deaths_of_its_workers_resets_the_count(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for attempt in range(1, 10):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
            progress = Progress("fit", 1, None, "rounds", share=0.1 * attempt)
            assert JobRepository(tx).progress(job_id, attempt, progress)
    claims = []
    for _ in range(4):  # none of which comes further
        with transaction() as tx:
            claims.append(JobRepository(tx).claim(job_id))
    assert claims == [Claim(10), Claim(11), Claim(11, spent=True), Claim(11, spent=True)]


def test_a_job_that_comes_as_far_each_time_is_started_three_times(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    claims = []
    for attempt, completed in ((1, 60), (2, 50), (3, 60), (4, 0)):
        with transaction() as tx:
            claims.append(JobRepository(tx).claim(job_id))
            JobRepository(tx).progress(job_id, attempt, Progress("rows", completed, 100, "rows"))
    assert claims == [Claim(1), Claim(2), Claim(3), Claim(3, spent=True)]


def test_a_fit_that_dies_by_itself_is_counted_whatever_its_progress(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for attempt in (1, 2, 3):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
            JobRepository(tx).progress(job_id, attempt, Progress("fit", 1, None, "rounds", share=0.3 * attempt))
            JobRepository(tx).died(job_id, attempt, "ended by signal 11")
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(3, spent=True)


def test_to_be_interrupted_is_no_death(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for attempt in range(1, 8):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
            JobRepository(tx).hand_back(job_id, attempt)
    for attempt in (8, 9, 10):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(10, spent=True)


def test_a_superseded_start_hands_nothing_back_and_has_no_last_words(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for _ in range(2):
        with transaction() as tx:
            JobRepository(tx).claim(job_id)
    with transaction() as tx:
        JobRepository(tx).hand_back(job_id, 1)
        JobRepository(tx).died(job_id, 1, "of an earlier start")
        assert JobRepository(tx).get(samples.OWNER, job_id).last_words is None
        JobRepository(tx).died(job_id, 2, "Segmentation fault")
        assert JobRepository(tx).get(samples.OWNER, job_id).last_words == "Segmentation fault"
    for expected in (Claim(3), Claim(3, spent=True)):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == expected


def test_an_attempt_is_current_until_it_ends_is_superseded_or_its_owner_cancels(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert JobRepository(tx).is_needed(job_id, 1)
        assert not JobRepository(tx).is_needed(job_id, 2)
        JobRepository(tx).claim(job_id)
        assert not JobRepository(tx).is_needed(job_id, 1)
        JobRepository(tx).request_cancel(samples.OWNER, job_id)
        assert not JobRepository(tx).is_needed(job_id, 2)


def test_nothing_is_claimed_that_is_not_there_or_is_to_end(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, job_id)
        assert JobRepository(tx).claim(job_id) is None
        assert JobRepository(tx).claim(uuid4()) is None


def test_progress_is_seen_and_numbered(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    steps = [Progress("search", done, 10, "widths", float("-inf"), None, 5e-324) for done in range(3)]
    for step in steps:
        with transaction() as tx:
            assert JobRepository(tx).progress(job_id, 1, step)
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, job_id).progress == steps[-1]
        events = JobRepository(tx).events(samples.OWNER, job_id, limit=100, after=0)
    assert [event.number for event in events] == [1, 2, 3, 4, 5]
    assert [event.kind for event in events] == ["transition"] * 2 + ["progress"] * 3
    assert [event.progress for event in events[2:]] == steps
    assert [event.transition.state for event in events if event.transition] == ["queued", "running"]


def test_events_state_of_which_attempt_a_transition_is(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        JobRepository(tx).hand_back(job_id, 1)
        JobRepository(tx).claim(job_id)
    with transaction() as tx:
        events = JobRepository(tx).events(samples.OWNER, job_id, limit=100, after=0)
        job = JobRepository(tx).get(samples.OWNER, job_id)
    found = [event.transition for event in events if event.transition]
    assert [(move.state, move.attempt) for move in found] == [
        ("queued", 0),
        ("running", 1),
        ("running", 2),
    ]
    assert tuple(found) == job.transitions


def test_events_come_in_pieces(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        for _ in range(5):
            JobRepository(tx).progress(job_id, 1, samples.PROGRESS)
        JobRepository(tx).claim(job_id)
    with transaction() as tx:
        pieces = [JobRepository(tx).events(samples.OWNER, job_id, limit=3, after=after) for after in (0, 3, 6, 8)]
    assert [[event.number for event in piece] for piece in pieces] == [[1, 2, 3], [4, 5, 6], [7, 8], []]


def test_a_superseded_attempt_can_not_speak(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(2)
    with transaction() as tx:
        before = JobRepository(tx).get(samples.OWNER, job_id)
        assert not JobRepository(tx).progress(job_id, 1, samples.PROGRESS)
        assert not JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
        assert not JobRepository(tx).cancelled(job_id, 1)
        assert finish_training(tx, job_id, 1, samples.new_version()) is None
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, job_id) == before
        assert len(JobRepository(tx).events(samples.OWNER, job_id, limit=9, after=0)) == len(before.transitions)
        assert ModelRepository(tx).find(samples.OWNER, "prices") is None


def test_success_records_the_version_and_the_end(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        version = finish_training(tx, job_id, 1, samples.new_version())
    assert version is not None
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, job_id)
    assert (job.state, job.model, job.version) == ("succeeded", "prices", 1)
    assert job.finished_at == job.transitions[-1].at == version.created_at
    assert job.transitions[-1].state == "succeeded"


@pytest.mark.parametrize(("share", "succeeds"), [(0.96, True), (None, True), (0.96, False)])
def test_all_of_the_work_is_complete_at_success_and_as_reported_at_another_end(
    share: float | None, succeeds: bool, transaction: OpenTransaction
) -> None:
    job_id = samples.running_job(transaction)
    reported = Progress("reduction", 2, 3, "steps", share=share, seconds_left=share)
    with transaction() as tx:
        JobRepository(tx).progress(job_id, 1, reported)
        if succeeds:
            finish_training(tx, job_id, 1, samples.new_version(), reported)
        else:
            JobRepository(tx).cancelled(job_id, 1)
    with transaction() as tx:
        found = JobRepository(tx).get(samples.OWNER, job_id).progress
    complete = succeeds and share is not None
    assert found == (replace(reported, share=1.0, seconds_left=0.0) if complete else reported)


def test_failure_keeps_its_problem(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, job_id)
    assert (job.state, job.error) == ("failed", samples.PROBLEM)
    assert job.transitions[-1].reason == "constant-target"


def test_a_queued_job_is_cancelled_at_once(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        job = JobRepository(tx).request_cancel(samples.OWNER, job_id)
    assert job.state == "cancelled"
    assert job.cancel_requested_at == job.finished_at == job.transitions[-1].at


def test_a_running_job_is_only_requested_to_end_and_once(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert not JobRepository(tx).is_cancel_requested(job_id)
        first = JobRepository(tx).request_cancel(samples.OWNER, job_id)
        again = JobRepository(tx).request_cancel(samples.OWNER, job_id)
        assert JobRepository(tx).is_cancel_requested(job_id)
    assert first.state == again.state == "running"
    assert first.cancel_requested_at == again.cancel_requested_at is not None
    with transaction() as tx:
        assert JobRepository(tx).cancelled(job_id, 1)
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, job_id).state == "cancelled"


def test_a_finished_job_can_not_be_cancelled(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
        failed = JobRepository(tx).get(samples.OWNER, job_id)
    assert failed.finished_at is not None
    since = f"{failed.finished_at:%Y-%m-%dT%H:%M:%SZ}"
    with (
        pytest.raises(ConflictError, match=re.escape(f"The job can't be cancelled: it failed at {since}.")),
        transaction() as tx,
    ):
        JobRepository(tx).request_cancel(samples.OWNER, job_id)


def test_a_cancelled_job_may_be_cancelled_again_and_stays_as_it_is(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        first = JobRepository(tx).request_cancel(samples.OWNER, job_id)
    with transaction() as tx:
        assert JobRepository(tx).request_cancel(samples.OWNER, job_id) == first


def _bring_to(transaction: OpenTransaction, state: JobState) -> UUID:
    job_id = samples.queued_job(transaction) if state == "queued" else samples.running_job(transaction)
    with transaction() as tx:
        match state:
            case "succeeded":
                assert finish_training(tx, job_id, 1, samples.new_version()) is not None
            case "failed":
                assert JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
            case "cancelled":
                assert JobRepository(tx).cancelled(job_id, 1)
            case _:
                pass
    return job_id


def _try(transaction: OpenTransaction, job_id: UUID, following: JobState, attempt: int) -> bool:
    with transaction() as tx:
        doing: dict[JobState, Callable[[], bool]] = {
            "running": lambda: JobRepository(tx).claim(job_id) is not None,
            "succeeded": lambda: finish_training(tx, job_id, attempt, samples.new_version()) is not None,
            "failed": lambda: JobRepository(tx).fail(job_id, attempt, samples.PROBLEM),
            "cancelled": lambda: JobRepository(tx).cancelled(job_id, attempt),
        }
        return doing[following]()


@pytest.mark.thorough
@pytest.mark.parametrize(("state", "following"), [(a, b) for a, b in product(MOVES, MOVES) if b != "queued"])
def test_a_job_makes_the_moves_of_its_kind_and_no_other(
    transaction: OpenTransaction, state: JobState, following: JobState
) -> None:
    job_id = _bring_to(transaction, state)
    with transaction() as tx:
        before = JobRepository(tx).get(samples.OWNER, job_id)
    assert before.state == state
    made = _try(transaction, job_id, following, before.attempt)
    with transaction() as tx:
        after = JobRepository(tx).get(samples.OWNER, job_id)
        events = JobRepository(tx).events(samples.OWNER, job_id, limit=100, after=0)
    assert made == (following in MOVES[state])
    assert after.state == (following if made else state)
    if made:
        assert len(after.transitions) == len(before.transitions) + 1
    else:
        assert after == before
    assert [event.number for event in events] == list(range(1, len(events) + 1))


def test_unfinished_jobs_are_listed_with_their_attempts(transaction: OpenTransaction) -> None:
    queued, running = samples.queued_job(transaction), samples.running_job(transaction, owner=samples.STRANGER)
    for ended in ("succeeded", "failed", "cancelled"):
        _bring_to(transaction, ended)
    with transaction() as tx:
        found = BacklogRepository(tx).page(after=None, limit=10)
        assert set(found) == {(queued, "queued", 0), (running, "running", 1)}
        assert [job[0] for job in found] == sorted(job[0] for job in found)
        assert BacklogRepository(tx).page(after=None, limit=1) == found[:1]
        assert BacklogRepository(tx).page(after=found[0][0], limit=10) == found[1:]


def test_activity_is_whether_a_job_waits_or_has_not_ended(transaction: OpenTransaction) -> None:
    def activity() -> JobActivity:
        with transaction() as tx:
            return BacklogRepository(tx).activity()

    assert activity() == JobActivity(is_waiting=False, is_unfinished=False)
    first = samples.queued_job(transaction)
    assert activity() == JobActivity(is_waiting=True, is_unfinished=True)
    with transaction() as tx:
        JobRepository(tx).claim(first)
    assert activity() == JobActivity(is_waiting=False, is_unfinished=True)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, first)
        JobRepository(tx).cancelled(first, 1)
    assert activity() == JobActivity(is_waiting=False, is_unfinished=False)


def test_of_an_owners_jobs_those_that_have_not_ended_are_counted(transaction: OpenTransaction) -> None:
    samples.queued_job(transaction)
    samples.running_job(transaction)
    samples.queued_job(transaction, owner=samples.STRANGER)
    for ended in ("succeeded", "failed", "cancelled"):
        _bring_to(transaction, ended)
    with transaction() as tx:
        assert BacklogRepository(tx).count(samples.OWNER) == 2
        assert BacklogRepository(tx).count("nobody") == 0


def test_unfinished_jobs_are_found_by_their_index(engine: Engine, transaction: OpenTransaction) -> None:
    """Whatever has ended costs a submit nothing."""
    _bring_to(transaction, "succeeded")
    counted = "SELECT count(*) FROM jobs WHERE owner = 'ada' AND finished_at IS NULL"
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # of an empty table all indexes cost the same
            connection.execute(text(ENDED_JOBS))
            connection.execute(text("ANALYZE jobs"))
        plan = connection.execute(
            text(f"EXPLAIN {'QUERY PLAN ' if engine.dialect.name == 'sqlite' else ''}{counted}")
        ).all()
    assert "ix_jobs_unfinished" in str(plan)


ENDED_JOBS = """
INSERT INTO jobs SELECT (jsonb_populate_record(
    job, jsonb_build_object('id', gen_random_uuid(), 'owner', 'ada', 'change', job.change + number)
)).* FROM jobs AS job, generate_series(1, 1000) AS number
"""


def test_pages_of_jobs_can_be_of_one_state(transaction: OpenTransaction) -> None:
    ids = [samples.queued_job(transaction) for _ in range(3)]
    with transaction() as tx:
        JobRepository(tx).claim(ids[1])
    with transaction() as tx:
        first = JobRepository(tx).page(samples.OWNER, PageRequest(1), which=JobFilter(state="queued"))
        second = JobRepository(tx).page(samples.OWNER, PageRequest(1, first.next), which=JobFilter(state="queued"))
        everything = JobRepository(tx).page(samples.OWNER, PageRequest(9))
        running = JobRepository(tx).page(samples.OWNER, PageRequest(9), which=JobFilter(state="running"))
    newest_first = sorted(ids, reverse=True)
    assert [job.id for job in everything.items] == newest_first
    assert [first.items[0].id, second.items[0].id] == [job_id for job_id in newest_first if job_id != ids[1]]
    assert second.next is None
    assert [[move.state for move in job.transitions] for job in running.items] == [["queued", "running"]]


def test_a_page_of_jobs_after_nonsense_is_refused(transaction: OpenTransaction) -> None:
    with pytest.raises(InvalidRequestError), transaction() as tx:
        JobRepository(tx).page(samples.OWNER, PageRequest(2, "nonsense"))


@pytest.mark.parametrize(
    "wrong",
    [
        "state = 'paused'",
        "state = 'failed'",
        "version = 1",
        "state = 'succeeded', finished_at = created_at, version = 1",
        "finished_at = created_at",
        "attempt = -1",
    ],
)
def test_the_database_itself_refuses_a_job_that_can_not_be(
    transaction: OpenTransaction, engine: Engine, wrong: str
) -> None:
    samples.queued_job(transaction)
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text(f"UPDATE jobs SET {wrong}"))
