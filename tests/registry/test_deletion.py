"""The deletion of a model with more versions than one transaction deletes."""

import pytest
from sqlalchemy import Engine, text

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.registry import repository
from app.registry.catalogue import Catalogue
from app.registry.repository import ModelRepository
from app.registry.version_repository import VersionRepository
from app.tasks import weight_unit
from relevance_bayes.records.errors import NotFoundError
from tests import samples


@pytest.fixture(autouse=True)
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "VERSIONS_AT_ONCE", 2)


def count(engine: Engine, table: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def test_it_is_deleted_at_once_and_its_versions_in_several_transactions(
    transaction: OpenTransaction, engine: Engine
) -> None:
    for _ in range(5):
        samples.stored_version(transaction)
    samples.stored_version(transaction, made=samples.plan(model="other"))
    with transaction() as tx:
        versions = [ModelRepository(tx).version(samples.OWNER, "prices", number).id for number in range(1, 6)]
        ModelRepository(tx).delete(samples.OWNER, "prices")
    with transaction() as tx:
        models = ModelRepository(tx)
        assert models.find(samples.OWNER, "prices") is None
        assert [model.name for model in models.page(samples.OWNER, PageRequest(9)).items] == ["other"]
        assert models.count(samples.OWNER) == 1
        assert VersionRepository(tx).names(versions) == {}
        with pytest.raises(NotFoundError):
            models.version(samples.OWNER, "prices", 3)
    assert count(engine, "model_versions") == 4  # of which one is the other model's
    with transaction() as tx:
        assert ModelRepository(tx).remove_deleted()
    assert count(engine, "model_versions") == 2
    Catalogue(transaction, weight_unit).remove_deleted()
    assert count(engine, "model_versions") == count(engine, "posteriors") == 1
    assert count(engine, "models") == 2  # the name keeps its counter
    with transaction() as tx:
        assert not ModelRepository(tx).remove_deleted()
        assert ModelRepository(tx).version(samples.OWNER, "other").number == 1


def test_its_name_is_free_at_once_and_its_numbers_are_not_used_again(
    transaction: OpenTransaction, engine: Engine
) -> None:
    for _ in range(5):
        samples.stored_version(transaction)
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    made = samples.plan(task="classification", inputs="z")
    assert samples.stored_version(transaction, made=made) == 6
    Catalogue(transaction, weight_unit).remove_deleted()
    with transaction() as tx:
        model = ModelRepository(tx).get(samples.OWNER, "prices")
        assert (model.task, model.versions, model.latest) == ("classification", 1, 6)
    assert count(engine, "model_versions") == 1


def test_moves_of_its_aliases_are_deleted_in_pieces_too(
    transaction: OpenTransaction, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOVES_AT_ONCE", 1)
    samples.stored_version(transaction)
    with engine.begin() as connection:
        for number in (1, 2, 3):
            connection.execute(
                text(
                    "INSERT INTO alias_moves (id, model_id, alias, number, at, by, from_version, to_version)"
                    f" SELECT '{number:032x}', id, 'champion', {number}, created_at, 'me', 1, 1 FROM models"
                )
                if engine.dialect.name == "sqlite"
                else text(
                    "INSERT INTO alias_moves (id, model_id, alias, number, at, by, from_version, to_version)"
                    f" SELECT '{number:032x}'::uuid, id, 'champion', {number}, created_at, 'me', 1, 1 FROM models"
                )
            )
    with transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    assert count(engine, "alias_moves") == 2
    Catalogue(transaction, weight_unit).remove_deleted()
    assert (count(engine, "alias_moves"), count(engine, "models")) == (0, 1)
