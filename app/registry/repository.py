"""The repository of models, their versions and predictors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, and_, delete, exists, func, insert, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.database import keyset
from app.database.base import Columns, changed
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.notifier import MODELS, notify
from app.database.transaction import CANCEL, Transaction, count_holds, hold
from app.errors import InUseError
from app.registry import deletion_repository
from app.registry.naming import aliases_of
from app.registry.recording import record
from app.registry.records import NO_TAGS, Annotation, Version
from app.registry.tables import ModelAliasRow, ModelRow, ModelTagRow, ModelVersionRow, PosteriorRow, VersionTagRow
from app.registry.version_codec import DIAGNOSTICS, NAMES, REPORT, decode_predictor
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import Model
from relevance_bayes.records.references import Selector
from relevance_bayes.tasks.union import NewVersion, Predictor

MODEL = Columns(Model)

TagRow: TypeAlias = type[ModelTagRow] | type[VersionTagRow]


def tags_of(session: Session, row: TagRow, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, str]]:
    """Return the tags of each of these ids, by name."""
    found: dict[UUID, dict[str, str]] = {one: {} for one in ids}
    for of, name, value in session.execute(
        select(row.of, row.name, row.value).where(row.of.in_(ids)).order_by(row.name)
    ):
        found[of][name] = value
    return found


def retag(session: Session, row: TagRow, of: UUID, tags: Mapping[str, str]) -> None:
    """Replace all tags."""
    changed(session, delete(row).where(row.of == of))
    if tags:
        session.execute(
            insert(row).values([{row.of: of, row.name: name, row.value: value} for name, value in tags.items()])
        )


def tagged(row: TagRow, of: InstrumentedAttribute[UUID], tags: Mapping[str, str]) -> ColumnElement[bool]:
    """Return the condition that the row has all of these tags."""
    return and_(
        True, *(exists().where(row.of == of, row.name == name, row.value == value) for name, value in tags.items())
    )


@dataclass(frozen=True)
class ModelRepository:
    """Models and their versions. Numbers are assigned when a version is recorded, and never used again."""

    tx: Transaction

    def trained_by(self, job_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of some jobs, of any owner, that trained a version that there is."""
        row = ModelVersionRow
        found = self.tx.session.scalars(select(row.job_id).where(row.job_id.in_(job_ids)))
        return frozenset(job_id for job_id in found if job_id is not None)

    def get(self, owner: str, name: str) -> Model:
        """Return a model; raises NotFoundError."""
        model = self.find(owner, name)
        if model is None:
            raise _no_such_model(name)
        return model

    def find(self, owner: str, name: str) -> Model | None:
        """Return a model, or None."""
        rows = self.tx.session.execute(_models(owner).where(ModelRow.name == name)).all()
        return self._read(rows)(rows[0]) if rows else None

    def count(self, owner: str, *, planned: Collection[str] = ()) -> int:
        """Return the number of an owner's models, with those that are `planned` and not made yet."""
        mine = (ModelRow.owner == owner, ModelRow.deleted_at.is_(None))
        made = self.tx.session.scalar(select(func.count()).select_from(ModelRow).where(*mine)) or 0
        known = self.tx.session.scalars(select(ModelRow.name).where(*mine, ModelRow.name.in_(planned)))
        return made + len({*planned}.difference(known))

    def page(
        self, owner: str, part: PageRequest, *, task: str | None = None, tags: Mapping[str, str] = NO_TAGS
    ) -> KeysetPage[Model]:
        """Return a page of models of a task and with tags; raises InvalidRequestError for an invalid cursor."""
        query = _models(owner).where(tagged(ModelTagRow, ModelRow.id, tags))
        if task is not None:
            query = query.where(ModelRow.task == task)
        rows = self.tx.session.execute(keyset.by_age(query, ModelRow.id, part, keyset.read_id)).all()
        return keyset.page(rows, part.limit, self._read(rows), lambda row: row[0].id)

    def version(self, owner: str, name: str, selector: Selector = None) -> Version:
        """Return the newest version, or the one with this number or alias; raises NotFoundError."""
        query = _versions(owner, name)
        if selector is None:
            query, missing = query.order_by(ModelVersionRow.number.desc()).limit(1), "version"
        elif isinstance(selector, int):
            query, missing = query.where(ModelVersionRow.number == selector), f"version {selector}"
        else:
            query = query.join(ModelAliasRow, ModelAliasRow.version_id == ModelVersionRow.id)
            query, missing = query.where(ModelAliasRow.name == selector), f"alias {selector!r}"
        row = self.tx.session.execute(query).one_or_none()
        if row is None:
            self.get(owner, name)
            raise NotFoundError(f"Model {name!r} has no {missing}.")
        return self._read_versions([row])(row)

    def versions(
        self, owner: str, name: str, part: PageRequest, *, tags: Mapping[str, str] = NO_TAGS
    ) -> KeysetPage[Version]:
        """Return a page of versions with these tags; raises NotFoundError, InvalidRequestError for a bad cursor."""
        self.get(owner, name)
        query = _versions(owner, name).where(tagged(VersionTagRow, ModelVersionRow.id, tags))
        rows = self.tx.session.execute(keyset.by_age(query, ModelVersionRow.number, part, keyset.read_number)).all()
        return keyset.page(rows, part.limit, self._read_versions(rows), lambda row: row[0].number)

    def predictor(self, version_id: UUID) -> Predictor:
        """Return the decoded predictor of a version; raises NotFoundError."""
        content = self.tx.session.scalar(select(PosteriorRow.content).where(PosteriorRow.version_id == version_id))
        if content is None:
            raise NotFoundError(f"There is no version {version_id}.")
        return decode_predictor(content)

    def diagnostics(self, version_id: UUID) -> Diagnostics | None:
        """Return the diagnostics of a version, None where it has none."""
        row = ModelVersionRow
        content = self.tx.session.scalar(select(row.diagnostics).where(row.id == version_id))
        return None if content is None else DIAGNOSTICS.read(content)

    def hold(self, owner: str, name: str, *, versions: Sequence[int] = (), job_id: UUID) -> None:
        """Prevent the deletion of a model, if it exists, and of versions until a job ends; raises NotFoundError."""
        lock_for_writing(self.tx.session.connection())
        model = select(ModelRow.id).where(ModelRow.owner == owner, ModelRow.name == name)
        model_id = self.tx.session.scalar(model.with_for_update(read=True, key_share=True))
        hold(self.tx, job_id, owner, "model", name)
        row = ModelVersionRow
        for number in dict.fromkeys(versions):
            version = self.tx.session.scalar(select(row.id).where(row.model_id == model_id, row.number == number))
            if version is None:
                raise NotFoundError(f"Model {name!r} has no version {number}.")
            hold(self.tx, job_id, owner, "version", version)

    def annotate(self, owner: str, name: str, annotation: Annotation, *, record: float | None = None) -> Model:
        """Replace the annotation of a model, and the share of predictions that is recorded, unless None.

        Raises NotFoundError.
        """
        model_id = self.lock(owner, name)
        given = update(ModelRow).where(ModelRow.id == model_id).values(description=annotation.description)
        changed(self.tx.session, given if record is None else given.values(record_share=record))
        retag(self.tx.session, ModelTagRow, model_id, annotation.tags)
        details = {} if record is None else {"record": f"{record:g}"}
        self.tx.record("model.updated", owner, model_path(name), **details)
        return self.get(owner, name)

    def annotate_version(self, version: Version, annotation: Annotation) -> Version:
        """Replace the annotation of a version."""
        given = update(ModelVersionRow).where(ModelVersionRow.id == version.id)
        changed(self.tx.session, given.values(description=annotation.description))
        retag(self.tx.session, VersionTagRow, version.id, annotation.tags)
        self.tx.record("version.updated", version.owner, _version_path(version))
        return self.version(version.owner, version.model, version.number)

    def add(
        self, owner: str, version: NewVersion, *, job_id: UUID | None = None, at: datetime | None = None
    ) -> Version:
        """Record a version, made by a job or imported, at a time, by default now.

        Raises ConflictError where the model's versions have another task, target or other inputs.
        """
        made = record(self.tx.session, version, owner=owner, job_id=job_id, now=at or self.tx.clock())
        self.tx.record("version.created", owner, _version_path(made), job_id=None if job_id is None else str(job_id))
        return made

    def delete(self, owner: str, name: str) -> None:
        """Delete a model with all versions, vectors, posteriors and aliases.

        Of many versions `remove_deleted` deletes the rows: to delete all at once would block every writer. Raises
        NotFoundError, or InUseError while an unfinished job trains or uses a version of it.
        """
        # Locked until the end: `hold` locks this row too, so that the two can't miss each other.
        model_id = self.lock(owner, name)
        if jobs := count_holds(self.tx, owner, "model", name):
            raise InUseError(f"Unfinished jobs ({jobs}) train or use versions of the model: {CANCEL}")
        changed(self.tx.session, delete(ModelAliasRow).where(ModelAliasRow.model_id == model_id))
        notify(self.tx.session.connection(), model_id, channel=MODELS)
        retag(self.tx.session, ModelTagRow, model_id, {})
        gone = update(ModelRow).where(ModelRow.id == model_id)
        changed(self.tx.session, gone.values(deleted_at=self.tx.clock(), description=None, record_share=0.0))
        if not deletion_repository.remove_piece(self.tx.session, model_id):
            deletion_repository.rename(self.tx.session, model_id)
        self.tx.record("model.deleted", owner, model_path(name))

    def remove_deleted(self) -> bool:
        """Delete some versions of a deleted model of any owner; return whether to call again."""
        lock_for_writing(self.tx.session.connection())
        model_id = deletion_repository.next_model(self.tx.session)
        if model_id is None:
            return False
        if deletion_repository.remove_piece(self.tx.session, model_id):
            changed(self.tx.session, delete(ModelRow).where(ModelRow.id == model_id))
        return True

    def delete_version(self, owner: str, name: str, selector: Selector) -> None:
        """Delete a version, its vectors and posterior.

        Raises NotFoundError, InUseError while an alias points to it or an unfinished job uses it.
        """
        model_id = self.lock(owner, name)
        version = self.version(owner, name, selector)
        pointing = select(ModelAliasRow.name).where(ModelAliasRow.version_id == version.id).order_by(ModelAliasRow.name)
        if aliases := self.tx.session.scalars(pointing).all():
            raise InUseError(
                f"Version {version.number} of model {name!r} has {_listed(aliases)}: move or remove that first."
            )
        if jobs := count_holds(self.tx, owner, "version", version.id):
            raise InUseError(f"Unfinished jobs ({jobs}) use version {version.number} of model {name!r}: {CANCEL}")
        changed(self.tx.session, delete(ModelVersionRow).where(ModelVersionRow.id == version.id))
        notify(self.tx.session.connection(), model_id, channel=MODELS)
        self.tx.record("version.deleted", owner, _version_path(version))

    def lock(self, owner: str, name: str) -> UUID:
        """Lock a model until this transaction ends, and return its id; raises NotFoundError."""
        lock_for_writing(self.tx.session.connection())
        mine = select(ModelRow.id).where(ModelRow.owner == owner, ModelRow.name == name, ModelRow.deleted_at.is_(None))
        model_id = self.tx.session.scalar(mine.with_for_update())
        if model_id is None:
            raise _no_such_model(name)
        return model_id

    def _read(self, rows: Sequence[Row[ModelRow, int, int]]) -> Callable[[Row[ModelRow, int, int]], Model]:
        """Return a function that makes models of these rows, with their aliases and tags."""
        ids = [row[0].id for row in rows]
        aliases, tags = aliases_of(self.tx.session, ids), tags_of(self.tx.session, ModelTagRow, ids)
        return lambda row: MODEL.read(
            row[0],
            target=row[0].target or None,
            inputs=NAMES.read(row[0].inputs),
            versions=row[1],
            latest=row[2],
            aliases=dict(aliases[row[0].id]),
            tags=dict(tags[row[0].id]),
            record=row[0].record_share,
        )

    def _read_versions(
        self, rows: Sequence[Row[ModelVersionRow, str]]
    ) -> Callable[[Row[ModelVersionRow, str]], Version]:
        tags = tags_of(self.tx.session, VersionTagRow, [row[0].id for row in rows])
        return lambda row: _version(row, tags[row[0].id])


def model_path(name: str) -> str:
    """Return the path of a model."""
    return f"/v1/models/{name}"


def _version_path(version: Version) -> str:
    return f"{model_path(version.model)}/versions/{version.number}"


def _models(owner: str) -> Select[ModelRow, int, int]:
    return (
        select(ModelRow, func.count(ModelVersionRow.id), func.max(ModelVersionRow.number))
        .outerjoin(ModelVersionRow, ModelVersionRow.model_id == ModelRow.id)
        .where(ModelRow.owner == owner, ModelRow.deleted_at.is_(None))
        .group_by(ModelRow.id)
        .execution_options(populate_existing=True)
    )


def _versions(owner: str, name: str) -> Select[ModelVersionRow, str]:
    return (
        select(ModelVersionRow, ModelRow.name)
        .join(ModelRow, ModelVersionRow.model_id == ModelRow.id)
        .where(ModelRow.owner == owner, ModelRow.name == name)
        .execution_options(populate_existing=True)
    )


def _version(row: Row[ModelVersionRow, str], tags: Mapping[str, str]) -> Version:
    version, model = row
    return Version(
        version.id,
        version.owner,
        model,
        version.number,
        version.job_id,
        version.created_at,
        REPORT.read(version.report),
        version.parent,
        Annotation(version.description, tags),
    )


def _listed(aliases: Sequence[str]) -> str:
    named = ", ".join(repr(alias) for alias in aliases[:5]) + (" and others" if len(aliases) > 5 else "")
    return f"the alias {named}" if len(aliases) == 1 else f"the aliases {named}"


def _no_such_model(name: str) -> NotFoundError:
    return NotFoundError(f"There is no model {name!r}.")
