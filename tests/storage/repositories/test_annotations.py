"""What owners say of models and versions, and which version came before one."""

import pytest
from sqlalchemy import Engine, text

from app.domain.annotations import Annotation
from app.domain.ports import OpenUnitOfWork, PageRequest
from app.storage.migrations import downgrade, migrate
from relevance_bayes.types.errors import NotFoundError
from tests.storage import samples

OWNER, MODEL = samples.OWNER, "prices"
SAID = Annotation("What flats cost, ø 😀.", {"stage": "live", "team": "a:b"})


def say_of_version(open_uow: OpenUnitOfWork, number: int, annotation: Annotation) -> None:
    with open_uow() as uow:
        uow.models.annotate_version(uow.models.version(OWNER, MODEL, number), annotation)


def test_what_is_said_of_a_model_comes_back_and_is_replaced(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    samples.stored_version(open_uow, owner=samples.STRANGER)
    with open_uow() as uow:
        assert uow.models.get(OWNER, MODEL).annotation == Annotation()
        assert uow.models.annotate(OWNER, MODEL, SAID).annotation == SAID
    with open_uow() as uow:
        assert uow.models.get(OWNER, MODEL).annotation == SAID
        assert uow.models.get(samples.STRANGER, MODEL).annotation == Annotation()
        assert uow.models.version(OWNER, MODEL).annotation == Annotation()
        uow.models.annotate(OWNER, MODEL, Annotation(None, {"team": "c"}))
    with open_uow() as uow:
        assert uow.models.get(OWNER, MODEL).annotation == Annotation(None, {"team": "c"})


def test_what_is_said_twice_in_one_unit_is_said_as_the_second_time(open_uow: OpenUnitOfWork) -> None:
    samples.stored_version(open_uow)
    with open_uow() as uow:
        uow.models.annotate(OWNER, MODEL, SAID)
        assert uow.models.annotate(OWNER, MODEL, Annotation(None, {"stage": "old"})).annotation.tags == {"stage": "old"}
        uow.models.annotate(OWNER, MODEL, Annotation())
    with open_uow() as uow:
        assert uow.models.get(OWNER, MODEL).annotation == Annotation()


def test_what_is_said_of_a_version_changes_nothing_else(open_uow: OpenUnitOfWork) -> None:
    for _ in range(2):
        samples.stored_version(open_uow)
    with open_uow() as uow:
        before = uow.models.version(OWNER, MODEL, 1)
    say_of_version(open_uow, 1, SAID)
    with open_uow() as uow:
        after = uow.models.version(OWNER, MODEL, 1)
        assert uow.models.version(OWNER, MODEL, 2).annotation == Annotation()
    assert after.annotation == SAID
    assert (after.id, after.report, after.created_at, after.parent) == (
        before.id,
        before.report,
        before.created_at,
        before.parent,
    )


def test_lists_show_what_has_all_of_the_tags(open_uow: OpenUnitOfWork) -> None:
    for _ in range(4):
        samples.stored_version(open_uow)
    samples.stored_version(open_uow, made=samples.plan(model="other"))
    for number, tags in ((1, {"a": "1"}), (2, {"a": "1", "b": "2"}), (3, {"a": "2", "b": "2"})):
        say_of_version(open_uow, number, Annotation(tags=tags))
    with open_uow() as uow:
        uow.models.annotate(OWNER, "other", Annotation(tags={"a": "1"}))

    def found(**tags: str) -> list[int]:
        with open_uow() as uow:
            page = uow.models.versions(OWNER, MODEL, PageRequest(1), tags=tags)
            numbers = [version.number for version in page.items]
            while page.next is not None:
                page = uow.models.versions(OWNER, MODEL, PageRequest(1, page.next), tags=tags)
                numbers += [version.number for version in page.items]
            return numbers

    assert found() == [4, 3, 2, 1]
    assert found(a="1") == [2, 1]
    assert found(a="1", b="2") == [2]
    assert found(b="2") == [3, 2]
    assert found(b="1") == []
    with open_uow() as uow:
        names = [model.name for model in uow.models.page(OWNER, PageRequest(9), tags={"a": "1"}).items]
        assert names == ["other"]
        assert uow.models.page(samples.STRANGER, PageRequest(9), tags={"a": "1"}).items == ()


def test_a_deleted_models_words_are_gone_with_it(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    samples.stored_version(open_uow)
    say_of_version(open_uow, 1, SAID)
    with open_uow() as uow:
        uow.models.annotate(OWNER, MODEL, SAID)
    with open_uow() as uow:
        uow.models.delete(OWNER, MODEL)
    with engine.connect() as connection:
        for table in ("model_tags", "version_tags"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
    samples.stored_version(open_uow)
    with open_uow() as uow:
        assert uow.models.get(OWNER, MODEL).annotation == Annotation()


def test_what_is_not_there_can_not_be_held(open_uow: OpenUnitOfWork) -> None:
    with open_uow() as uow, pytest.raises(NotFoundError):
        uow.models.hold(OWNER, "nobody")


def test_a_versions_parent_is_the_newest_that_was_there(open_uow: OpenUnitOfWork) -> None:
    for _ in range(3):
        samples.stored_version(open_uow)
    with open_uow() as uow:
        uow.models.delete_version(OWNER, MODEL, 3)
    samples.stored_version(open_uow)
    with open_uow() as uow:
        parents = {number: uow.models.version(OWNER, MODEL, number).parent for number in (1, 2, 4)}
        uow.models.delete(OWNER, MODEL)
    assert parents == {1: None, 2: 1, 4: 2}
    assert samples.stored_version(open_uow) == 5
    with open_uow() as uow:
        assert uow.models.version(OWNER, MODEL).parent is None


def test_versions_from_before_have_no_parent_and_nothing_said(open_uow: OpenUnitOfWork, engine: Engine) -> None:
    for _ in range(2):
        samples.stored_version(open_uow)
    downgrade(engine, "2026_11_28_webhooks")
    migrate(engine)
    with open_uow() as uow:
        version = uow.models.version(OWNER, MODEL, 2)
        assert (version.parent, version.annotation) == (None, Annotation())
        assert uow.models.get(OWNER, MODEL).aliases == {}
