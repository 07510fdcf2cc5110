from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier, Event
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.errors import ConflictError, InUseError
from app.jobs.records import Claim
from app.jobs.repository import JobRepository
from app.registry import repository
from app.registry.records import Version
from app.registry.repository import ModelRepository, version_ids
from app.registry.submission import submit
from app.registry.version_repository import VectorRepository, encode_predictor
from app.tasks.service import finish_training
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.functions import ClassWeight, RelevanceVector
from relevance_bayes.records.models import NamedVersion
from relevance_bayes.records.values import Label
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.supervised.request import SupervisedPlan
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests import samples


def test_a_version_comes_back_as_it_was_recorded(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    new = samples.new_version()
    with transaction() as tx:
        recorded = finish_training(tx, job_id, 1, new)
    assert recorded is not None
    with transaction() as tx:
        assert ModelRepository(tx).version(samples.OWNER, "prices") == recorded
        assert ModelRepository(tx).version(samples.OWNER, "prices", 1) == recorded
        predictor = ModelRepository(tx).predictor(recorded.id)
    assert recorded == Version(
        recorded.id, samples.OWNER, "prices", 1, job_id, recorded.created_at, samples.new_version().report
    )
    assert encode_predictor(predictor) == encode_predictor(new.predictor)


def imported(made: SupervisedPlan | None = None) -> NewSupervisedVersion:
    new = samples.new_version(made)
    return replace(new, report=replace(new.report, imported=ImportedFrom("elsewhere", 7, "ab" * 32)))


def test_a_version_that_no_job_made_comes_back_as_it_was_added(transaction: OpenTransaction) -> None:
    new = imported()
    with transaction() as tx:
        added = ModelRepository(tx).add(samples.OWNER, new)
    assert samples.stored_version(transaction) == 2
    with transaction() as tx:
        again = ModelRepository(tx).add(samples.OWNER, new)
        assert again.number == 3
        assert ModelRepository(tx).version(samples.OWNER, "prices", 1) == added
        assert encode_predictor(ModelRepository(tx).predictor(added.id)) == encode_predictor(new.predictor)
        vectors = VectorRepository(tx).page(added.id, limit=9, after=None, sort="number")
        assert vectors.items == new.vectors
    assert (added.job_id, added.number, added.report) == (None, 1, new.report)
    with pytest.raises(ConflictError, match="target"), transaction() as tx:
        ModelRepository(tx).add(samples.OWNER, imported(samples.plan(target="rent")))


def test_the_stored_bytes_are_those_of_the_codec_on_every_database(
    transaction: OpenTransaction, engine: Engine
) -> None:
    samples.stored_version(transaction)
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT content FROM posteriors")).scalar_one()
    assert bytes(stored) == encode_predictor(samples.predictor())


def test_a_model_reports_its_newest_version(transaction: OpenTransaction) -> None:
    numbers = [samples.stored_version(transaction) for _ in range(3)]
    assert numbers == [1, 2, 3]
    with transaction() as tx:
        model = ModelRepository(tx).get(samples.OWNER, "prices")
        assert ModelRepository(tx).find(samples.OWNER, "prices") == model
        assert ModelRepository(tx).version(samples.OWNER, "prices").number == 3
    assert (model.versions, model.latest) == (3, 3)
    assert (model.task, model.target, model.inputs) == ("regression", "price", ("x", "y"))


def test_names_represent_versions_by_number_and_for_the_newest_without(
    transaction: OpenTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        samples.stored_version(transaction)
    samples.stored_version(transaction, owner=samples.STRANGER)
    names: list[NamedVersion] = [
        *((samples.OWNER, "prices", number) for number in (None, 1, 3, 4)),
        (samples.STRANGER, "prices", None),
        (samples.STRANGER, "prices", 2),
        (samples.OWNER, "nothing", None),
        (samples.OWNER, "nothing", 1),
    ]
    with transaction() as tx:
        known = {name: ModelRepository(tx).version(*name).id for name in names[:3] + names[4:5]}
        assert version_ids(tx, names) == known
        monkeypatch.setattr(repository, "MAX_AT_ONCE", 2)
        assert version_ids(tx, names) == known
        assert version_ids(tx, []) == {}
    with transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 3)
        found = version_ids(tx, names)
        assert found[samples.OWNER, "prices", None] == ModelRepository(tx).version(samples.OWNER, "prices", 2).id
        assert (samples.OWNER, "prices", 3) not in found
        ModelRepository(tx).delete(samples.OWNER, "prices")
        assert list(version_ids(tx, names)) == [(samples.STRANGER, "prices", None)]


def test_owners_do_not_see_or_number_each_others_models(transaction: OpenTransaction) -> None:
    assert samples.stored_version(transaction) == 1
    assert samples.stored_version(transaction, owner=samples.STRANGER, made=samples.plan(task="classification")) == 1
    with transaction() as tx:
        assert ModelRepository(tx).get(samples.OWNER, "prices").task == "regression"
        assert ModelRepository(tx).get(samples.STRANGER, "prices").task == "classification"
        assert ModelRepository(tx).find("nobody", "prices") is None
        assert ModelRepository(tx).page("nobody", PageRequest(9)).items == ()
        with pytest.raises(NotFoundError):
            ModelRepository(tx).version("nobody", "prices", 1)
        with pytest.raises(NotFoundError):
            ModelRepository(tx).delete("nobody", "prices")


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
    transaction: OpenTransaction, engine: Engine, other: SupervisedPlan, given: str
) -> None:
    late = samples.running_job(transaction, made=other)
    samples.stored_version(transaction)
    before = _counts(engine)
    with pytest.raises(ConflictError, match=f"another {given}"), transaction() as tx:
        finish_training(tx, late, 1, samples.new_version(other))
    assert _counts(engine) == before
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, late)
        assert (job.state, job.version) == ("running", None)
        assert JobRepository(tx).fail(late, 1, samples.PROBLEM)
    assert samples.stored_version(transaction) == 2


def test_the_order_of_the_inputs_does_not_matter(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    assert samples.stored_version(transaction, made=samples.plan(inputs="yx")) == 2


def test_numbers_are_never_used_again(transaction: OpenTransaction) -> None:
    assert [samples.stored_version(transaction) for _ in range(2)] == [1, 2]
    with transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 2)
    assert samples.stored_version(transaction) == 3
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    assert samples.stored_version(transaction) == 4


def test_a_deleted_model_is_removed_and_its_name_is_free_for_another_meaning(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    samples.stored_version(transaction, made=samples.plan(model="newer"))
    with transaction() as tx:
        old = ModelRepository(tx).get(samples.OWNER, "prices")
        version_id = ModelRepository(tx).version(samples.OWNER, "prices").id
        ModelRepository(tx).delete(samples.OWNER, "prices")
    with transaction() as tx:
        assert ModelRepository(tx).find(samples.OWNER, "prices") is None
        assert [model.name for model in ModelRepository(tx).page(samples.OWNER, PageRequest(9)).items] == ["newer"]
        with pytest.raises(NotFoundError):
            ModelRepository(tx).predictor(version_id)
        with pytest.raises(NotFoundError):
            ModelRepository(tx).version(samples.OWNER, "prices")
        with pytest.raises(NotFoundError):
            ModelRepository(tx).delete(samples.OWNER, "prices")
    assert samples.stored_version(transaction, made=samples.plan(task="classification", inputs="z")) == 2
    with transaction() as tx:
        again = ModelRepository(tx).get(samples.OWNER, "prices")
        names = [model.name for model in ModelRepository(tx).page(samples.OWNER, PageRequest(9)).items]
    assert (again.task, again.inputs, again.versions) == ("classification", ("z",), 1)
    assert again.created_at > old.created_at
    assert names == ["prices", "newer"]


def test_deleting_leaves_no_vectors_and_no_bytes(transaction: OpenTransaction, engine: Engine) -> None:
    samples.stored_version(transaction)
    samples.stored_version(transaction)
    assert _counts(engine) == (1, 2, 10, 2)
    with transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)
    assert _counts(engine) == (1, 1, 5, 1)
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    assert _counts(engine) == (1, 0, 0, 0)


def test_a_model_is_not_deleted_while_a_job_is_to_make_a_version_of_it(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    samples.stored_version(transaction, made=samples.plan(model="newer"))
    job_id = samples.queued_job(transaction)
    samples.queued_job(transaction, owner=samples.STRANGER, made=samples.plan(model="newer"))
    for _ in range(2):
        with pytest.raises(InUseError, match=r"Unfinished jobs \(1\)"), transaction() as tx:
            ModelRepository(tx).delete(samples.OWNER, "prices")
        with transaction() as tx:
            JobRepository(tx).claim(job_id)
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "newer")  # a stranger's job has nothing to do with it
        JobRepository(tx).fail(job_id, 2, samples.PROBLEM)
        ModelRepository(tx).delete(samples.OWNER, "prices")


def test_of_a_models_deletion_and_a_new_job_for_it_one_sees_the_other(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    dataset = samples.stored_dataset(transaction)
    added, delete = Event(), Event()

    def add() -> None:
        with transaction() as tx:
            submit(tx, samples.new_job(dataset.id))
            added.set()
            delete.wait(20)

    def remove() -> None:
        assert added.wait(20)
        delete.set()
        with transaction() as tx:
            ModelRepository(tx).delete(samples.OWNER, "prices")

    with ThreadPoolExecutor(2) as pool:
        adding, removing = pool.submit(add), pool.submit(remove)
        adding.result(30)
        with pytest.raises(InUseError):
            removing.result(30)


def test_a_job_keeps_its_version_when_the_model_is_deleted(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        finish_training(tx, job_id, 1, samples.new_version())
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, job_id)
    assert (job.state, job.model, job.version) == ("succeeded", "prices", 1)


def test_a_model_whose_versions_were_deleted_one_by_one_has_no_newest(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)
    with transaction() as tx:
        model = ModelRepository(tx).get(samples.OWNER, "prices")
        assert (model.versions, model.latest) == (0, None)
        with pytest.raises(NotFoundError, match="no version"):
            ModelRepository(tx).version(samples.OWNER, "prices")
        with pytest.raises(NotFoundError, match="no version 1"):
            ModelRepository(tx).version(samples.OWNER, "prices", 1)
        with pytest.raises(NotFoundError):
            ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)


def test_versions_made_at_once_get_numbers_of_their_own(transaction: OpenTransaction) -> None:
    jobs = [samples.running_job(transaction) for _ in range(12)]
    together = Barrier(4)

    def succeed(job_id: UUID) -> int:
        together.wait(timeout=30)
        with transaction() as tx:
            version = finish_training(tx, job_id, 1, samples.new_version())
        assert version is not None
        return version.number

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(succeed, jobs, timeout=60)) == list(range(1, 13))


def test_one_attempt_ends_a_job_once_however_many_try(transaction: OpenTransaction, engine: Engine) -> None:
    job_id = samples.running_job(transaction)
    together = Barrier(4)

    def succeed(_: int) -> bool:
        together.wait(timeout=30)
        with transaction() as tx:
            return finish_training(tx, job_id, 1, samples.new_version()) is not None

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(succeed, range(4), timeout=60)) == [False, False, False, True]
    assert _counts(engine) == (1, 1, 5, 1)


def test_of_an_end_and_a_new_attempt_at_once_the_first_counts(transaction: OpenTransaction) -> None:
    def succeed() -> bool:
        together.wait(timeout=30)
        with transaction() as tx:
            return finish_training(tx, job_id, 1, samples.new_version()) is not None

    def claim() -> bool:
        together.wait(timeout=30)
        with transaction() as tx:
            return JobRepository(tx).claim(job_id) == Claim(2)

    with ThreadPoolExecutor(2) as pool:
        for _ in range(8):
            job_id, together = samples.running_job(transaction), Barrier(2)
            ended, claimed = pool.submit(succeed), pool.submit(claim)
            assert ended.result(30) is not claimed.result(30)


def test_one_job_makes_one_version(transaction: OpenTransaction, engine: Engine) -> None:
    samples.stored_version(transaction)
    with engine.connect() as connection, pytest.raises(Exception, match=r"(?i)unique"):
        connection.execute(
            text(
                "INSERT INTO model_versions (id, owner, model_id, number, job_id, created_at, report) "
                "SELECT model_id, owner, model_id, 9, job_id, created_at, report FROM model_versions"
            )
        )


def test_versions_are_paged_from_the_oldest_when_requested(transaction: OpenTransaction) -> None:
    for _ in range(3):
        samples.stored_version(transaction)
    with transaction() as tx:
        first = ModelRepository(tx).versions(samples.OWNER, "prices", PageRequest(2, order="oldest"))
        rest = ModelRepository(tx).versions(samples.OWNER, "prices", PageRequest(2, first.next, "oldest"))
    assert [version.number for version in (*first.items, *rest.items)] == [1, 2, 3]
    assert rest.next is None


def test_models_are_listed_by_task(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        assert [
            model.name for model in ModelRepository(tx).page(samples.OWNER, PageRequest(9), task="regression").items
        ] == ["prices"]
        assert ModelRepository(tx).page(samples.OWNER, PageRequest(9), task="image").items == ()


def test_versions_are_paged_from_the_newest(transaction: OpenTransaction) -> None:
    for _ in range(5):
        samples.stored_version(transaction)
    seen: list[int] = []
    after = None
    for _ in range(3):
        with transaction() as tx:
            page = ModelRepository(tx).versions(samples.OWNER, "prices", PageRequest(2, after))
        seen += [version.number for version in page.items]
        after = page.next
    assert seen == [5, 4, 3, 2, 1]
    assert after is None
    with transaction() as tx, pytest.raises(NotFoundError):
        ModelRepository(tx).versions(samples.OWNER, "nothing", PageRequest(2))


def test_models_are_paged_from_the_newest(transaction: OpenTransaction) -> None:
    for name in ("a", "b", "c"):
        samples.stored_version(transaction, made=samples.plan(model=name))
    with transaction() as tx:
        first = ModelRepository(tx).page(samples.OWNER, PageRequest(2))
        second = ModelRepository(tx).page(samples.OWNER, PageRequest(2, first.next))
        with pytest.raises(InvalidRequestError):
            ModelRepository(tx).page(samples.OWNER, PageRequest(2, "nonsense"))
    assert [model.name for model in first.items + second.items] == ["c", "b", "a"]
    assert second.next is None


def test_functions_are_named_as_the_list_of_vectors_has_them(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        version = ModelRepository(tx).version(samples.OWNER, "prices")
        named = VectorRepository(tx).listed(version.id)
    assert [(one.number, one.kind, one.row, one.input) for one in named] == [
        (one.number, one.kind, one.row, one.input) for one in samples.vectors()
    ]


def _all_vectors(transaction: OpenTransaction, sort: str, limit: int) -> list[RelevanceVector]:
    found: list[RelevanceVector] = []
    after = None
    while True:
        with transaction() as tx:
            version = ModelRepository(tx).version(samples.OWNER, "prices", 1)
            page = VectorRepository(tx).page(
                version.id, limit=limit, after=after, sort="weight" if sort == "weight" else "number"
            )
        found += page.items
        after = page.next
        if after is None:
            return found


def test_vectors_come_by_number(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    for limit in (1, 2, 4, 9):
        assert _all_vectors(transaction, "number", limit) == list(samples.vectors())


def test_vectors_come_by_the_size_of_their_weight(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    for limit in (1, 2, 3, 9):
        found = _all_vectors(transaction, "weight", limit)
        assert [vector.number for vector in found] == [4, 1, 2, 3, 5]
        assert all(abs(one.max_weight) >= abs(other.max_weight) for one, other in pairwise(found))


def test_vectors_of_several_classes_come_back_and_by_their_largest_weight(transaction: OpenTransaction) -> None:
    labels: tuple[Label, ...] = ("rød 😀", 2, True)
    means = ((0.1, -0.2, 0.1 + 0.2), (5e-324, -9.0, 0.0), (1.0, 0.0, -1.0), (-2.0, 1.0, 1.0), (3.0, 0.0, 0.0))
    made = tuple(
        replace(vector, weight_mean=None, weight_means=tuple(map(ClassWeight, labels, each)))
        for vector, each in zip(samples.vectors(), means, strict=True)
    )
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert finish_training(tx, job_id, 1, replace(samples.new_version(), vectors=made)) is not None
    found = _all_vectors(transaction, "number", 2)
    assert found == list(made)
    assert [type(one.label) for one in found[0].weight_means] == [str, int, bool]
    for limit in (1, 2, 9):
        assert [vector.number for vector in _all_vectors(transaction, "weight", limit)] == [2, 5, 4, 3, 1]


def test_vectors_of_nothing_are_not_found(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        version = ModelRepository(tx).version(samples.OWNER, "prices", 1)
        with pytest.raises(NotFoundError):
            ModelRepository(tx).version(samples.OWNER, "prices", 2)
        with pytest.raises(NotFoundError):
            ModelRepository(tx).version(samples.STRANGER, "prices", 1)
        with pytest.raises(InvalidRequestError):
            VectorRepository(tx).page(version.id, limit=9, after="x", sort="weight")
        with pytest.raises(NotFoundError):
            ModelRepository(tx).predictor(uuid4())


def test_vectors_can_be_read_by_a_person(transaction: OpenTransaction, engine: Engine) -> None:
    samples.stored_version(transaction)
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
