from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier, Event
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from app.domain.attempts import Claim
from app.domain.models import NewSupervisedVersion, Version
from app.domain.ports import OpenUnitOfWork, PageRequest
from app.errors import ConflictError, InUseError
from app.storage.codec import encode_predictor
from app.storage.repositories import naming
from relevance_bayes.plans.requests import SupervisedPlan
from relevance_bayes.types.errors import InvalidRequestError, NotFoundError
from relevance_bayes.types.functions import ClassWeight, RelevanceVector
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.references import NamedVersion
from relevance_bayes.types.values import Label
from tests.storage import samples


def test_a_version_comes_back_as_it_was_recorded(open_uow: OpenUnitOfWork) -> None:
    job_id = samples.running_job(open_uow)
    new = samples.new_version()
    with open_uow() as uow:
        recorded = uow.jobs.succeed(job_id, 1, new)
    assert recorded is not None
    with open_uow() as uow:
        assert uow.models.version(samples.OWNER, "prices") == recorded
        assert uow.models.version(samples.OWNER, "prices", 1) == recorded
        predictor = uow.models.predictor(recorded.id)
    assert recorded == Version(
        recorded.id, samples.OWNER, "prices", 1, job_id, recorded.created_at, samples.new_version().report
    )
    assert encode_predictor(predictor) == encode_predictor(new.predictor)


def imported(made: SupervisedPlan | None = None) -> NewSupervisedVersion:
    new = samples.new_version(made)
    return replace(new, report=replace(new.report, imported=ImportedFrom("elsewhere", 7, "ab" * 32)))


def test_a_version_that_no_job_made_comes_back_as_it_was_added(open_uow: OpenUnitOfWork) -> None:
    new = imported()
    with open_uow() as uow:
        added = uow.models.add(samples.OWNER, new)
    assert samples.stored_version(open_uow) == 2
    with open_uow() as uow:
        again = uow.models.add(samples.OWNER, new)
        assert again.number == 3
        assert uow.models.version(samples.OWNER, "prices", 1) == added
        assert encode_predictor(uow.models.predictor(added.id)) == encode_predictor(new.predictor)
        vectors = uow.models.vectors(samples.OWNER, "prices", 1, limit=9, after=None, sort="number")
        assert vectors.items == new.vectors
    assert (added.job_id, added.number, added.report) == (None, 1, new.report)
    with pytest.raises(ConflictError, match="target"), open_uow() as uow:
        uow.models.add(samples.OWNER, imported(samples.plan(target="rent")))


def test_the_stored_bytes_are_those_of_the_codec_on_every_database(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    samples.stored_version(open_uow)
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT content FROM posteriors")).scalar_one()
    assert bytes(stored) == encode_predictor(samples.predictor())


def test_a_model_tells_of_its_newest_version(open_uow: OpenUnitOfWork) -> None:
    numbers = [samples.stored_version(open_uow) for _ in range(3)]
    assert numbers == [1, 2, 3]
    with open_uow() as uow:
        model = uow.models.get(samples.OWNER, "prices")
        assert uow.models.find(samples.OWNER, "prices") == model
        assert uow.models.version(samples.OWNER, "prices").number == 3
    assert (model.versions, model.latest) == (3, 3)
    assert (model.task, model.target, model.inputs) == ("regression", "price", ("x", "y"))


def test_names_stand_for_versions_by_number_and_for_the_newest_without(
    open_uow: OpenUnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        samples.stored_version(open_uow)
    samples.stored_version(open_uow, owner=samples.STRANGER)
    names: list[NamedVersion] = [
        *((samples.OWNER, "prices", number) for number in (None, 1, 3, 4)),
        (samples.STRANGER, "prices", None),
        (samples.STRANGER, "prices", 2),
        (samples.OWNER, "nothing", None),
        (samples.OWNER, "nothing", 1),
    ]
    with open_uow() as uow:
        known = {name: uow.models.version(*name).id for name in names[:3] + names[4:5]}
        assert uow.models.version_ids(names) == known
        monkeypatch.setattr(naming, "MAX_AT_ONCE", 2)
        assert uow.models.version_ids(names) == known
        assert uow.models.version_ids([]) == {}
    with open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 3)
        found = uow.models.version_ids(names)
        assert found[samples.OWNER, "prices", None] == uow.models.version(samples.OWNER, "prices", 2).id
        assert (samples.OWNER, "prices", 3) not in found
        uow.models.delete(samples.OWNER, "prices")
        assert list(uow.models.version_ids(names)) == [(samples.STRANGER, "prices", None)]


def test_owners_do_not_see_or_number_each_others_models(open_uow: OpenUnitOfWork) -> None:
    assert samples.stored_version(open_uow) == 1
    assert samples.stored_version(open_uow, owner=samples.STRANGER, made=samples.plan(task="classification")) == 1
    with open_uow() as uow:
        assert uow.models.get(samples.OWNER, "prices").task == "regression"
        assert uow.models.get(samples.STRANGER, "prices").task == "classification"
        assert uow.models.find("nobody", "prices") is None
        assert uow.models.page("nobody", PageRequest(9)).items == ()
        with pytest.raises(NotFoundError):
            uow.models.version("nobody", "prices", 1)
        with pytest.raises(NotFoundError):
            uow.models.delete("nobody", "prices")


@pytest.mark.parametrize(
    ("other", "given"),
    [
        (samples.plan(task="classification"), "task"),
        (samples.plan(target="rent"), "target"),
        (samples.plan(inputs="xyz"), "inputs"),
    ],
    ids=["task", "target", "inputs"],
)
def test_a_name_that_means_something_else_is_refused_and_nothing_is_recorded(
    open_uow: OpenUnitOfWork, engine: Engine, other: SupervisedPlan, given: str
) -> None:
    late = samples.running_job(open_uow, made=other)
    samples.stored_version(open_uow)
    before = _counts(engine)
    with pytest.raises(ConflictError, match=f"another {given}"), open_uow() as uow:
        uow.jobs.succeed(late, 1, samples.new_version(other))
    assert _counts(engine) == before
    with open_uow() as uow:
        job = uow.jobs.get(samples.OWNER, late)
        assert (job.state, job.version) == ("running", None)
        assert uow.jobs.fail(late, 1, samples.PROBLEM)
    assert samples.stored_version(open_uow) == 2


def test_the_order_of_the_inputs_does_not_matter(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    assert samples.stored_version(open_uow, made=samples.plan(inputs="yx")) == 2


def test_numbers_are_never_used_again(open_uow: OpenUnitOfWork) -> None:
    assert [samples.stored_version(open_uow) for _ in range(2)] == [1, 2]
    with open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 2)
    assert samples.stored_version(open_uow) == 3
    with open_uow() as uow:
        uow.models.delete(samples.OWNER, "prices")
    assert samples.stored_version(open_uow) == 4


def test_a_deleted_model_is_gone_and_its_name_is_free_for_another_meaning(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    samples.stored_version(open_uow, made=samples.plan(model="newer"))
    with open_uow() as uow:
        old = uow.models.get(samples.OWNER, "prices")
        version_id = uow.models.version(samples.OWNER, "prices").id
        uow.models.delete(samples.OWNER, "prices")
    with open_uow() as uow:
        assert uow.models.find(samples.OWNER, "prices") is None
        assert [model.name for model in uow.models.page(samples.OWNER, PageRequest(9)).items] == ["newer"]
        with pytest.raises(NotFoundError):
            uow.models.predictor(version_id)
        with pytest.raises(NotFoundError):
            uow.models.version(samples.OWNER, "prices")
        with pytest.raises(NotFoundError):
            uow.models.delete(samples.OWNER, "prices")
    assert samples.stored_version(open_uow, made=samples.plan(task="classification", inputs="z")) == 2
    with open_uow() as uow:
        again = uow.models.get(samples.OWNER, "prices")
        names = [model.name for model in uow.models.page(samples.OWNER, PageRequest(9)).items]
    assert (again.task, again.inputs, again.versions) == ("classification", ("z",), 1)
    assert again.created_at > old.created_at
    assert names == ["prices", "newer"]


def test_deleting_leaves_no_vectors_and_no_bytes(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    samples.stored_version(open_uow)
    samples.stored_version(open_uow)
    assert _counts(engine) == (1, 2, 10, 2)
    with open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 1)
    assert _counts(engine) == (1, 1, 5, 1)
    with open_uow() as uow:
        uow.models.delete(samples.OWNER, "prices")
    assert _counts(engine) == (1, 0, 0, 0)


def test_a_model_is_not_deleted_while_a_job_is_to_make_a_version_of_it(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    samples.stored_version(open_uow, made=samples.plan(model="newer"))
    job_id = samples.queued_job(open_uow)
    samples.queued_job(open_uow, owner=samples.STRANGER, made=samples.plan(model="newer"))
    for _ in range(2):
        with pytest.raises(InUseError, match=r"Unfinished jobs \(1\)"), open_uow() as uow:
            uow.models.delete(samples.OWNER, "prices")
        with open_uow() as uow:
            uow.jobs.claim(job_id)
    with open_uow() as uow:
        uow.models.delete(samples.OWNER, "newer")  # a stranger's job has nothing to do with it
        uow.jobs.fail(job_id, 2, samples.PROBLEM)
        uow.models.delete(samples.OWNER, "prices")


def test_of_a_models_deletion_and_a_new_job_for_it_one_sees_the_other(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    dataset = samples.stored_dataset(open_uow)
    added, delete = Event(), Event()

    def add() -> None:
        with open_uow() as uow:
            uow.jobs.add(samples.new_job(dataset.id))
            added.set()
            delete.wait(20)

    def remove() -> None:
        assert added.wait(20)
        delete.set()
        with open_uow() as uow:
            uow.models.delete(samples.OWNER, "prices")

    with ThreadPoolExecutor(2) as pool:
        adding, removing = pool.submit(add), pool.submit(remove)
        adding.result(30)
        with pytest.raises(InUseError):
            removing.result(30)


def test_a_job_keeps_its_version_when_the_model_is_deleted(open_uow: OpenUnitOfWork) -> None:
    job_id = samples.running_job(open_uow)
    with open_uow() as uow:
        uow.jobs.succeed(job_id, 1, samples.new_version())
    with open_uow() as uow:
        uow.models.delete(samples.OWNER, "prices")
    with open_uow() as uow:
        job = uow.jobs.get(samples.OWNER, job_id)
    assert (job.state, job.model, job.version) == ("succeeded", "prices", 1)


def test_a_model_whose_versions_were_deleted_one_by_one_has_no_newest(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    with open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 1)
    with open_uow() as uow:
        model = uow.models.get(samples.OWNER, "prices")
        assert (model.versions, model.latest) == (0, None)
        with pytest.raises(NotFoundError, match="no version"):
            uow.models.version(samples.OWNER, "prices")
        with pytest.raises(NotFoundError, match="no version 1"):
            uow.models.version(samples.OWNER, "prices", 1)
        with pytest.raises(NotFoundError):
            uow.models.delete_version(samples.OWNER, "prices", 1)


def test_versions_made_at_once_get_numbers_of_their_own(open_uow: OpenUnitOfWork) -> None:
    jobs = [samples.running_job(open_uow) for _ in range(12)]
    together = Barrier(4)

    def succeed(job_id: UUID) -> int:
        together.wait(timeout=30)
        with open_uow() as uow:
            version = uow.jobs.succeed(job_id, 1, samples.new_version())
        assert version is not None
        return version.number

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(succeed, jobs, timeout=60)) == list(range(1, 13))


def test_one_attempt_ends_a_job_once_however_many_try(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    job_id = samples.running_job(open_uow)
    together = Barrier(4)

    def succeed(_: int) -> bool:
        together.wait(timeout=30)
        with open_uow() as uow:
            return uow.jobs.succeed(job_id, 1, samples.new_version()) is not None

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(succeed, range(4), timeout=60)) == [False, False, False, True]
    assert _counts(engine) == (1, 1, 5, 1)


def test_of_an_end_and_a_new_attempt_at_once_the_first_stands(open_uow: OpenUnitOfWork) -> None:
    def succeed() -> bool:
        together.wait(timeout=30)
        with open_uow() as uow:
            return uow.jobs.succeed(job_id, 1, samples.new_version()) is not None

    def claim() -> bool:
        together.wait(timeout=30)
        with open_uow() as uow:
            return uow.jobs.claim(job_id) == Claim(2)

    with ThreadPoolExecutor(2) as pool:
        for _ in range(8):
            job_id, together = samples.running_job(open_uow), Barrier(2)
            ended, claimed = pool.submit(succeed), pool.submit(claim)
            assert ended.result(30) is not claimed.result(30)


def test_one_job_makes_one_version(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    samples.stored_version(open_uow)
    with engine.connect() as connection, pytest.raises(Exception, match=r"(?i)unique"):
        connection.execute(
            text(
                "INSERT INTO model_versions (id, owner, model_id, number, job_id, created_at, report) "
                "SELECT model_id, owner, model_id, 9, job_id, created_at, report FROM model_versions"
            )
        )


def test_versions_are_paged_from_the_oldest_when_asked(open_uow: OpenUnitOfWork) -> None:
    for _ in range(3):
        samples.stored_version(open_uow)
    with open_uow() as uow:
        first = uow.models.versions(samples.OWNER, "prices", PageRequest(2, order="oldest"))
        rest = uow.models.versions(samples.OWNER, "prices", PageRequest(2, first.next, "oldest"))
    assert [version.number for version in (*first.items, *rest.items)] == [1, 2, 3]
    assert rest.next is None


def test_models_are_listed_by_task(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    with open_uow() as uow:
        assert [model.name for model in uow.models.page(samples.OWNER, PageRequest(9), task="regression").items] == [
            "prices"
        ]
        assert uow.models.page(samples.OWNER, PageRequest(9), task="image").items == ()


def test_versions_are_paged_from_the_newest(open_uow: OpenUnitOfWork) -> None:
    for _ in range(5):
        samples.stored_version(open_uow)
    seen: list[int] = []
    after = None
    for _ in range(3):
        with open_uow() as uow:
            page = uow.models.versions(samples.OWNER, "prices", PageRequest(2, after))
        seen += [version.number for version in page.items]
        after = page.next
    assert seen == [5, 4, 3, 2, 1]
    assert after is None
    with open_uow() as uow, pytest.raises(NotFoundError):
        uow.models.versions(samples.OWNER, "nothing", PageRequest(2))


def test_models_are_paged_from_the_newest(open_uow: OpenUnitOfWork) -> None:
    for name in ("a", "b", "c"):
        samples.stored_version(open_uow, made=samples.plan(model=name))
    with open_uow() as uow:
        first = uow.models.page(samples.OWNER, PageRequest(2))
        second = uow.models.page(samples.OWNER, PageRequest(2, first.next))
        with pytest.raises(InvalidRequestError):
            uow.models.page(samples.OWNER, PageRequest(2, "nonsense"))
    assert [model.name for model in first.items + second.items] == ["c", "b", "a"]
    assert second.next is None


def test_functions_are_named_as_the_list_of_vectors_has_them(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    with open_uow() as uow:
        version = uow.models.version(samples.OWNER, "prices")
        named = uow.models.functions(version.id)
    assert [(one.number, one.kind, one.row, one.input) for one in named] == [
        (one.number, one.kind, one.row, one.input) for one in samples.vectors()
    ]


def _all_vectors(open_uow: OpenUnitOfWork, sort: str, limit: int) -> list[RelevanceVector]:
    found: list[RelevanceVector] = []
    after = None
    while True:
        with open_uow() as uow:
            page = uow.models.vectors(
                samples.OWNER, "prices", 1, limit=limit, after=after, sort="weight" if sort == "weight" else "number"
            )
        found += page.items
        after = page.next
        if after is None:
            return found


def test_vectors_come_by_number(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    for limit in (1, 2, 4, 9):
        assert _all_vectors(open_uow, "number", limit) == list(samples.vectors())


def test_vectors_come_by_the_size_of_their_weight(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    for limit in (1, 2, 3, 9):
        found = _all_vectors(open_uow, "weight", limit)
        assert [vector.number for vector in found] == [4, 1, 2, 3, 5]
        assert all(abs(one.max_weight) >= abs(other.max_weight) for one, other in pairwise(found))


def test_vectors_of_several_classes_come_back_and_by_their_greatest_weight(open_uow: OpenUnitOfWork) -> None:
    labels: tuple[Label, ...] = ("rød 😀", 2, True)
    means = ((0.1, -0.2, 0.1 + 0.2), (5e-324, -9.0, 0.0), (1.0, 0.0, -1.0), (-2.0, 1.0, 1.0), (3.0, 0.0, 0.0))
    made = tuple(
        replace(vector, weight_mean=None, weight_means=tuple(map(ClassWeight, labels, each)))
        for vector, each in zip(samples.vectors(), means, strict=True)
    )
    job_id = samples.running_job(open_uow)
    with open_uow() as uow:
        assert uow.jobs.succeed(job_id, 1, replace(samples.new_version(), vectors=made)) is not None
    found = _all_vectors(open_uow, "number", 2)
    assert found == list(made)
    assert [type(one.label) for one in found[0].weight_means] == [str, int, bool]
    for limit in (1, 2, 9):
        assert [vector.number for vector in _all_vectors(open_uow, "weight", limit)] == [2, 5, 4, 3, 1]


def test_vectors_of_nothing_are_not_found(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    with open_uow() as uow:
        with pytest.raises(NotFoundError):
            uow.models.vectors(samples.OWNER, "prices", 2, limit=9, after=None, sort="number")
        with pytest.raises(NotFoundError):
            uow.models.vectors(samples.STRANGER, "prices", 1, limit=9, after=None, sort="number")
        with pytest.raises(InvalidRequestError):
            uow.models.vectors(samples.OWNER, "prices", 1, limit=9, after="x", sort="weight")
        with pytest.raises(NotFoundError):
            uow.models.predictor(uuid4())


def test_vectors_can_be_read_by_a_person(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    samples.stored_version(open_uow)
    with engine.connect() as connection:
        rows = connection.execute(
            text("SELECT number, dataset_row, inputs, weight_mean FROM relevance_vectors ORDER BY number")
        ).all()
    assert tuple(rows[0]) == (1, 4, '{"x":0.1,"y":null,"colour":"rød","n":1180591620717411303424}', -3.0)
    assert tuple(rows[2][:3]) == (3, None, None)


def _counts(engine: Engine) -> tuple[int, ...]:
    with engine.connect() as connection:
        return tuple(
            connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            for table in ("models", "model_versions", "relevance_vectors", "posteriors")
        )
