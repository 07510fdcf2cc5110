"""The repository of models, their versions and predictors: recorded, resolved by references, deleted."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, and_, delete, exists, func, insert, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.database import keyset
from app.database.base import Columns, changed, insertion
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.notifier import MODELS, notify
from app.database.transaction import CANCEL, Transaction, count_holds, hold
from app.errors import ConflictError, InUseError
from app.identity import uuid7
from app.registry.records import NO_TAGS, Annotation, Version
from app.registry.tables import (
    NO_TARGET,
    AliasMoveRow,
    ModelAliasRow,
    ModelRow,
    ModelTagRow,
    ModelVersionRow,
    PosteriorRow,
    RelevanceVectorRow,
    VersionTagRow,
)
from app.registry.version_repository import (
    CELLS,
    DIAGNOSTICS,
    NAMES,
    REPORT,
    SHAPE,
    VECTOR,
    WEIGHTS,
    decode_predictor,
    encode_predictor,
)
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.models import Model, NamedVersion, Selector
from relevance_bayes.tasks.union import NewVersion, Predictor, TrainingPlan

MAX_AT_ONCE = 200
"""The number of references in one statement."""


def version_ids(tx: Transaction, names: Sequence[NamedVersion]) -> Mapping[NamedVersion, UUID]:
    """Return the versions that references resolve to now; references to nothing are left out."""
    found: dict[NamedVersion, UUID] = {}
    for first in range(0, len(names), MAX_AT_ONCE):
        some = names[first : first + MAX_AT_ONCE]
        found |= _numbered(tx.session, [name for name in some if isinstance(name[2], int)])
        found |= _aliased(tx.session, [name for name in some if isinstance(name[2], str)])
        found |= _newest(tx.session, [name for name in some if name[2] is None])
    return found


def _numbered(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    query = select(ModelRow.owner, ModelRow.name, ModelVersionRow.number, ModelVersionRow.id)
    query = query.join(ModelRow, ModelVersionRow.model_id == ModelRow.id)
    required = tuple_(ModelRow.owner, ModelRow.name, ModelVersionRow.number).in_(names)
    return {(owner, name, number): found for owner, name, number, found in session.execute(query.where(required))}


def _aliased(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    query = select(ModelRow.owner, ModelRow.name, ModelAliasRow.name, ModelAliasRow.version_id)
    query = query.join(ModelRow, ModelAliasRow.model_id == ModelRow.id)
    required = tuple_(ModelRow.owner, ModelRow.name, ModelAliasRow.name).in_(names)
    return {(owner, name, alias): found for owner, name, alias, found in session.execute(query.where(required))}


def _newest(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    others = aliased(ModelVersionRow)
    last = select(func.max(others.number)).where(others.model_id == ModelRow.id).scalar_subquery()
    query = select(ModelRow.owner, ModelRow.name, ModelVersionRow.id)
    query = query.join(ModelRow, ModelVersionRow.model_id == ModelRow.id).where(ModelVersionRow.number == last)
    required = tuple_(ModelRow.owner, ModelRow.name).in_([name[:2] for name in names])
    return {(owner, name, None): found for owner, name, found in session.execute(query.where(required))}


def _aliases_of(session: Session, model_ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, int]]:
    """Return the aliases of each model by name, with the numbers of their versions."""
    found: dict[UUID, dict[str, int]] = {model_id: {} for model_id in model_ids}
    pointing = (
        select(ModelAliasRow.model_id, ModelAliasRow.name, ModelVersionRow.number)
        .join(ModelVersionRow, ModelVersionRow.id == ModelAliasRow.version_id)
        .where(ModelAliasRow.model_id.in_(model_ids))
        .order_by(ModelAliasRow.name)
    )
    for model_id, name, number in session.execute(pointing):
        found[model_id][name] = number
    return found


VERSIONS_AT_ONCE = 200
"""The number of versions that one transaction deletes: with their functions and posteriors about 0.1 s."""

MOVES_AT_ONCE = 5_000

DELETED = " deleted "
"""The beginning of the name of a renamed row: no model may have it."""


def _rename_removed(session: Session, model_id: UUID) -> None:
    """Rename the row of a deleted model, and make another one of its name that goes on with its numbers."""
    row = ModelRow
    old = session.execute(select(row).where(row.id == model_id).execution_options(populate_existing=True)).scalar_one()
    kept = {name: getattr(old, name) for name in ("owner", "name", "created_at", "task", "target", "inputs")}
    kept |= {"deleted_at": old.deleted_at, "last_number": old.last_number}
    changed(session, update(row).where(row.id == model_id).values(name=f"{DELETED}{model_id}"))
    session.execute(insert(row).values(id=uuid7(), **kept))


def _next_model(session: Session) -> UUID | None:
    """Return a deleted model that has versions left, or moves of aliases, if there is one."""
    found = select(ModelRow.id).where(ModelRow.deleted_at.is_not(None), ModelRow.name.startswith(DELETED))
    return session.scalar(found.limit(1))


def remove_piece(session: Session, model_id: UUID) -> bool:
    """Delete some versions of a model, oldest first, then moves of its aliases; return whether all are gone."""
    version, move = ModelVersionRow, AliasMoveRow
    numbers = select(version.number).where(version.model_id == model_id).order_by(version.number)
    first = session.scalars(numbers.limit(VERSIONS_AT_ONCE + 1)).all()
    if first:
        last = first[:VERSIONS_AT_ONCE][-1]
        changed(session, delete(version).where(version.model_id == model_id, version.number <= last))
        if len(first) > VERSIONS_AT_ONCE:
            return False
    moves = session.scalars(select(move.id).where(move.model_id == model_id).limit(MOVES_AT_ONCE)).all()
    if moves:
        changed(session, delete(move).where(move.id.in_(moves)))
    return len(moves) < MOVES_AT_ONCE


VERSION = Columns(Version)


def record(session: Session, version: NewVersion, *, owner: str, job_id: UUID | None, now: datetime) -> Version:
    """Store a version with the next number of its model's name; `job_id` is that of its training, if any.

    Raises ConflictError where the model's versions have another task, target or other inputs.
    """
    lock_for_writing(session.connection())
    plan = version.report.plan
    model_id, number = _next_number(session, plan, owner=owner, now=now)
    before = select(func.max(ModelVersionRow.number)).where(ModelVersionRow.model_id == model_id)
    report, diagnostics = version.report.with_diagnostics(None), version.report.diagnostics
    made = Version(uuid7(), owner, plan.model, number, job_id, now, report, parent=session.scalar(before))
    others = {
        "report": REPORT.write(report),
        "diagnostics": None if diagnostics is None else DIAGNOSTICS.write(diagnostics),
    }
    session.add(VERSION.write(ModelVersionRow, made, model_id=model_id, **others))
    session.flush()
    session.add_all(_vector(made.id, vector) for vector in version.vectors)
    session.add(PosteriorRow(version_id=made.id, content=encode_predictor(version.predictor)))
    session.flush()
    notify(session.connection(), model_id, channel=MODELS)
    return made


def _next_number(session: Session, plan: TrainingPlan, *, owner: str, now: datetime) -> tuple[UUID, int]:
    # Concurrent recordings under one name wait for each other here, so that numbers have no gaps.
    row, values = ModelRow, _meaning(plan)
    first = insertion(session, row).values(
        id=uuid7(), owner=owner, name=plan.model, created_at=now, last_number=1, **values
    )
    following = first.on_conflict_do_update(
        index_elements=["owner", "name"], set_={"last_number": row.last_number + 1}
    ).returning(row.id, row.last_number, row.deleted_at, row.task, row.target, row.inputs)
    model_id, number, deleted_at, *recorded = session.execute(following).one()
    if deleted_at is None:
        _refuse_another_meaning(plan, *recorded)
        return model_id, number
    # The model is new except for its counter; the new id makes it the newest in lists, and no version has the old one.
    begun = uuid7()
    changed(session, update(row).where(row.id == model_id).values(id=begun, created_at=now, deleted_at=None, **values))
    return begun, number


def _meaning(plan: TrainingPlan) -> dict[str, str]:
    inputs = tuple(column.name for column in plan.inputs)
    return {"task": plan.task, "target": plan.target or NO_TARGET, "inputs": NAMES.write(inputs)}


def _refuse_another_meaning(plan: TrainingPlan, task: str, target: str, inputs: str) -> None:
    differing = [
        what
        for what, differs in (
            ("task", task != plan.task),
            ("target", target != (plan.target or NO_TARGET)),
            ("inputs", set(NAMES.read(inputs)) != {column.name for column in plan.inputs}),
        )
        if differs
    ]
    if differing:
        raise ConflictError(
            f"The versions of model {plan.model!r} have another {' and other '.join(differing)}: "
            "choose another `model` name."
        )


def _vector(version_id: UUID, vector: RelevanceVector) -> RelevanceVectorRow:
    return VECTOR.write(
        RelevanceVectorRow,
        vector,
        version_id=version_id,
        dataset_row=vector.row,
        inputs=None if vector.inputs is None else CELLS.write(vector.inputs),
        weight_mean=vector.max_weight,
        moved=vector.optimised,
        weight_means=WEIGHTS.write(vector.weight_means) if vector.weight_means else None,
        shape=SHAPE.write(vector.shape) if vector.shape else None,
    )


MODEL = Columns(Model)

TagRow: TypeAlias = type[ModelTagRow] | type[VersionTagRow]


def _tags_of(session: Session, row: TagRow, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, str]]:
    """Return the tags of each of these ids, by name."""
    found: dict[UUID, dict[str, str]] = {one: {} for one in ids}
    for of, name, value in session.execute(
        select(row.of, row.name, row.value).where(row.of.in_(ids)).order_by(row.name)
    ):
        found[of][name] = value
    return found


def _retag(session: Session, row: TagRow, of: UUID, tags: Mapping[str, str]) -> None:
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
        _retag(self.tx.session, ModelTagRow, model_id, annotation.tags)
        details = {} if record is None else {"record": f"{record:g}"}
        self.tx.record("model.updated", owner, model_path(name), **details)
        return self.get(owner, name)

    def annotate_version(self, version: Version, annotation: Annotation) -> Version:
        """Replace the annotation of a version."""
        given = update(ModelVersionRow).where(ModelVersionRow.id == version.id)
        changed(self.tx.session, given.values(description=annotation.description))
        _retag(self.tx.session, VersionTagRow, version.id, annotation.tags)
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
        _retag(self.tx.session, ModelTagRow, model_id, {})
        gone = update(ModelRow).where(ModelRow.id == model_id)
        changed(self.tx.session, gone.values(deleted_at=self.tx.clock(), description=None, record_share=0.0))
        if not remove_piece(self.tx.session, model_id):
            _rename_removed(self.tx.session, model_id)
        self.tx.record("model.deleted", owner, model_path(name))

    def remove_deleted(self) -> bool:
        """Delete some versions of a deleted model of any owner; return whether to call again."""
        lock_for_writing(self.tx.session.connection())
        model_id = _next_model(self.tx.session)
        if model_id is None:
            return False
        if remove_piece(self.tx.session, model_id):
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
        aliases, tags = _aliases_of(self.tx.session, ids), _tags_of(self.tx.session, ModelTagRow, ids)
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
        tags = _tags_of(self.tx.session, VersionTagRow, [row[0].id for row in rows])
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
