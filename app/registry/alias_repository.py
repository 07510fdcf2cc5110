"""The repository of aliases and their moves."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Row, Select, delete, func, insert, select, update

from app.database import keyset
from app.database.base import Columns, changed
from app.database.keyset import KeysetPage, PageRequest
from app.database.notifier import MODELS, notify
from app.database.transaction import Transaction
from app.errors import ConflictError
from app.http.conditional_requests import Condition
from app.identity import uuid7
from app.registry.records import MAX_ALIASES, MovedAlias, StoredAlias, nowhere
from app.registry.repository import ModelRepository, model_path
from app.registry.tables import AliasMoveRow, ModelAliasRow, ModelRow, ModelVersionRow
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import AliasMove, Selector

MOVE = Columns(AliasMove)


@dataclass(frozen=True)
class AliasRepository:
    """Aliases of a model's versions, and their moves.

    The model's row is locked by changes of its aliases, as it is by deletions of its versions.
    """

    tx: Transaction

    def get(self, owner: str, model: str, name: str) -> StoredAlias:
        """Return an alias; raises NotFoundError."""
        found = self._find(owner, model, name)
        if found is None:
            ModelRepository(self.tx).get(owner, model)
            raise _no_such_alias(model, name)
        return found

    def page(self, owner: str, model: str, *, limit: int, after: str | None) -> KeysetPage[StoredAlias]:
        """Return a page of aliases by name; raises NotFoundError, InvalidRequestError for an invalid cursor."""
        ModelRepository(self.tx).get(owner, model)
        query = _aliases(owner, model).order_by(ModelAliasRow.name).limit(limit + 1)
        if after is not None:
            query = query.where(ModelAliasRow.name > keyset.read_name(after))
        return keyset.page(
            self.tx.session.execute(query).all(), limit, lambda row: _alias(row, model), lambda row: row[0].name
        )

    def history(self, owner: str, model: str, name: str, part: PageRequest) -> KeysetPage[AliasMove]:
        """Return a page of an alias's moves, newest first, also after its removal; raises NotFoundError without any.

        Raises InvalidRequestError for an invalid cursor.
        """
        row = AliasMoveRow
        query = select(row).join(ModelRow, ModelRow.id == row.model_id)
        query = query.where(ModelRow.owner == owner, ModelRow.name == model, row.alias == name)
        rows = self.tx.session.scalars(keyset.by_age(query, row.number, part, keyset.read_number)).all()
        if not rows and part.after is None:
            ModelRepository(self.tx).get(owner, model)
            raise _no_such_alias(model, name)
        return keyset.page(rows, part.limit, MOVE.read, lambda move: move.number)

    def move(
        self, owner: str, model: str, name: str, *, to: Selector, by: str, reason: str | None, condition: Condition
    ) -> MovedAlias:
        """Point an alias, which is created where it does not exist, to a version; the same move again changes nothing.

        Raises NotFoundError (model, version), PreconditionFailedError, ConflictError for more than MAX_ALIASES.
        """
        model_id = ModelRepository(self.tx).lock(owner, model)
        present = self._find(owner, model, name)
        condition.require(_named(model, name), None if present is None else present.tag)
        try:
            version = ModelRepository(self.tx).version(owner, model, to)
        except NotFoundError as error:
            raise nowhere(error) from error
        if present is None:
            self._refuse_one_more(model_id, model)
        elif (present.version, present.reason) == (version.number, reason):
            return MovedAlias(present, is_new=False)
        old = None if present is None else present.version
        path = _path(model, name)
        self.tx.record("alias.moved", owner, path, from_version=old, to_version=version.number, reason=reason)
        move_id = self._note(model_id, name, old=old, new=version.number, by=by, reason=reason)
        if present is None:
            made = insert(ModelAliasRow).values(model_id=model_id, name=name, version_id=version.id, move_id=move_id)
            self.tx.session.execute(made)
        else:
            mine = update(ModelAliasRow).where(ModelAliasRow.model_id == model_id, ModelAliasRow.name == name)
            changed(self.tx.session, mine.values(version_id=version.id, move_id=move_id))
        return MovedAlias(self.get(owner, model, name), is_new=present is None)

    def remove(self, owner: str, model: str, name: str, *, by: str, reason: str | None, condition: Condition) -> None:
        """Remove an alias; raises NotFoundError, PreconditionFailedError."""
        model_id = ModelRepository(self.tx).lock(owner, model)
        present = self.get(owner, model, name)
        condition.require(_named(model, name), present.tag)
        self._note(model_id, name, old=present.version, new=None, by=by, reason=reason)
        gone = delete(ModelAliasRow).where(ModelAliasRow.model_id == model_id, ModelAliasRow.name == name)
        changed(self.tx.session, gone)
        self.tx.record("alias.removed", owner, _path(model, name), from_version=present.version, reason=reason)

    def _find(self, owner: str, model: str, name: str) -> StoredAlias | None:
        row = self.tx.session.execute(_aliases(owner, model).where(ModelAliasRow.name == name)).one_or_none()
        return None if row is None else _alias(row, model)

    def _refuse_one_more(self, model_id: UUID, model: str) -> None:
        there = select(func.count()).select_from(ModelAliasRow).where(ModelAliasRow.model_id == model_id)
        if (self.tx.session.scalar(there) or 0) >= MAX_ALIASES:
            raise ConflictError(f"Model {model!r} has {MAX_ALIASES} aliases, the maximum: remove one first.")

    def _note(
        self, model_id: UUID, name: str, *, old: int | None, new: int | None, by: str, reason: str | None
    ) -> UUID:
        last = select(func.max(AliasMoveRow.number)).where(
            AliasMoveRow.model_id == model_id, AliasMoveRow.alias == name
        )
        move = AliasMoveRow(
            id=uuid7(),
            model_id=model_id,
            alias=name,
            number=(self.tx.session.scalar(last) or 0) + 1,
            at=self.tx.clock(),
            by=by,
            from_version=old,
            to_version=new,
            reason=reason,
        )
        self.tx.session.add(move)
        self.tx.session.flush()
        notify(self.tx.session.connection(), model_id, channel=MODELS)
        return move.id


def _aliases(owner: str, model: str) -> Select[ModelAliasRow, AliasMoveRow, int]:
    return (
        select(ModelAliasRow, AliasMoveRow, ModelVersionRow.number)
        .join(ModelRow, ModelRow.id == ModelAliasRow.model_id)
        .join(AliasMoveRow, AliasMoveRow.id == ModelAliasRow.move_id)
        .join(ModelVersionRow, ModelVersionRow.id == ModelAliasRow.version_id)
        .where(ModelRow.owner == owner, ModelRow.name == model)
        .execution_options(populate_existing=True)
    )


def _alias(row: Row[ModelAliasRow, AliasMoveRow, int], model: str) -> StoredAlias:
    alias, move, version = row
    return StoredAlias(model, alias.name, version, move.at, move.by, move.reason, move.id)


def _path(model: str, name: str) -> str:
    return f"{model_path(model)}/aliases/{name}"


def _named(model: str, name: str) -> str:
    return f"Alias {name!r} of model {model!r}"


def _no_such_alias(model: str, name: str) -> NotFoundError:
    return NotFoundError(f"Model {model!r} has no alias {name!r}.")
