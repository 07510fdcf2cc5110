"""Annotations of models and versions, and which version came before one."""

import pytest
from sqlalchemy import Engine, text

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.registry.records import Annotation
from app.registry.repository import ModelRepository
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import Model
from tests import samples

OWNER, MODEL = samples.OWNER, "prices"
ANNOTATION = Annotation("What flats cost, ø 😀.", {"stage": "live", "team": "a:b"})


def annotation_of(model: Model) -> Annotation:
    return Annotation(model.description, model.tags)


def annotated(transaction: OpenTransaction, number: int, annotation: Annotation) -> None:
    with transaction() as tx:
        ModelRepository(tx).annotate_version(ModelRepository(tx).version(OWNER, MODEL, number), annotation)


def test_what_is_stated_of_a_model_comes_back_and_is_replaced(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    samples.stored_version(transaction, owner=samples.STRANGER)
    with transaction() as tx:
        assert annotation_of(ModelRepository(tx).get(OWNER, MODEL)) == Annotation()
        assert annotation_of(ModelRepository(tx).annotate(OWNER, MODEL, ANNOTATION)) == ANNOTATION
    with transaction() as tx:
        assert annotation_of(ModelRepository(tx).get(OWNER, MODEL)) == ANNOTATION
        assert annotation_of(ModelRepository(tx).get(samples.STRANGER, MODEL)) == Annotation()
        assert ModelRepository(tx).version(OWNER, MODEL).annotation == Annotation()
        ModelRepository(tx).annotate(OWNER, MODEL, Annotation(None, {"team": "c"}))
    with transaction() as tx:
        assert annotation_of(ModelRepository(tx).get(OWNER, MODEL)) == Annotation(None, {"team": "c"})


def test_what_is_stated_twice_in_one_unit_is_stated_as_the_second_time(transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        ModelRepository(tx).annotate(OWNER, MODEL, ANNOTATION)
        assert ModelRepository(tx).annotate(OWNER, MODEL, Annotation(None, {"stage": "old"})).tags == {"stage": "old"}
        ModelRepository(tx).annotate(OWNER, MODEL, Annotation())
    with transaction() as tx:
        assert annotation_of(ModelRepository(tx).get(OWNER, MODEL)) == Annotation()


def test_what_is_stated_of_a_version_changes_nothing_else(transaction: OpenTransaction) -> None:
    for _ in range(2):
        samples.stored_version(transaction)
    with transaction() as tx:
        before = ModelRepository(tx).version(OWNER, MODEL, 1)
    annotated(transaction, 1, ANNOTATION)
    with transaction() as tx:
        after = ModelRepository(tx).version(OWNER, MODEL, 1)
        assert ModelRepository(tx).version(OWNER, MODEL, 2).annotation == Annotation()
    assert after.annotation == ANNOTATION
    assert (after.id, after.report, after.created_at, after.parent) == (
        before.id,
        before.report,
        before.created_at,
        before.parent,
    )


def test_lists_show_what_has_all_of_the_tags(transaction: OpenTransaction) -> None:
    for _ in range(4):
        samples.stored_version(transaction)
    samples.stored_version(transaction, made=samples.plan(model="other"))
    for number, tags in ((1, {"a": "1"}), (2, {"a": "1", "b": "2"}), (3, {"a": "2", "b": "2"})):
        annotated(transaction, number, Annotation(tags=tags))
    with transaction() as tx:
        ModelRepository(tx).annotate(OWNER, "other", Annotation(tags={"a": "1"}))

    def found(**tags: str) -> list[int]:
        with transaction() as tx:
            page = ModelRepository(tx).versions(OWNER, MODEL, PageRequest(1), tags=tags)
            numbers = [version.number for version in page.items]
            while page.next is not None:
                page = ModelRepository(tx).versions(OWNER, MODEL, PageRequest(1, page.next), tags=tags)
                numbers += [version.number for version in page.items]
            return numbers

    assert found() == [4, 3, 2, 1]
    assert found(a="1") == [2, 1]
    assert found(a="1", b="2") == [2]
    assert found(b="2") == [3, 2]
    assert found(b="1") == []
    with transaction() as tx:
        names = [model.name for model in ModelRepository(tx).page(OWNER, PageRequest(9), tags={"a": "1"}).items]
        assert names == ["other"]
        assert ModelRepository(tx).page(samples.STRANGER, PageRequest(9), tags={"a": "1"}).items == ()


def test_a_deleted_models_words_are_removed_with_it(transaction: OpenTransaction, engine: Engine) -> None:
    samples.stored_version(transaction)
    annotated(transaction, 1, ANNOTATION)
    with transaction() as tx:
        ModelRepository(tx).annotate(OWNER, MODEL, ANNOTATION)
    with transaction() as tx:
        ModelRepository(tx).delete(OWNER, MODEL)
    with engine.connect() as connection:
        for table in ("model_tags", "version_tags"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
    samples.stored_version(transaction)
    with transaction() as tx:
        assert annotation_of(ModelRepository(tx).get(OWNER, MODEL)) == Annotation()


def test_what_is_not_there_can_not_be_held(transaction: OpenTransaction) -> None:
    with transaction() as tx, pytest.raises(NotFoundError):
        ModelRepository(tx).lock(OWNER, "nobody")


def test_a_versions_parent_is_the_newest_that_was_there(transaction: OpenTransaction) -> None:
    for _ in range(3):
        samples.stored_version(transaction)
    with transaction() as tx:
        ModelRepository(tx).delete_version(OWNER, MODEL, 3)
    samples.stored_version(transaction)
    with transaction() as tx:
        parents = {number: ModelRepository(tx).version(OWNER, MODEL, number).parent for number in (1, 2, 4)}
        ModelRepository(tx).delete(OWNER, MODEL)
    assert parents == {1: None, 2: 1, 4: 2}
    assert samples.stored_version(transaction) == 5
    with transaction() as tx:
        assert ModelRepository(tx).version(OWNER, MODEL).parent is None
