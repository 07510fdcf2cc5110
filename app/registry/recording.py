"""Recording of a version under its model's name: number, vectors, posterior."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.database.base import Columns, changed, insertion
from app.database.engine import lock_for_writing
from app.database.notifier import MODELS, notify
from app.errors import ConflictError
from app.identity import uuid7
from app.registry.records import Version
from app.registry.tables import NO_TARGET, ModelRow, ModelVersionRow, PosteriorRow, RelevanceVectorRow
from app.registry.version_codec import CELLS, DIAGNOSTICS, NAMES, REPORT, SHAPE, VECTOR, WEIGHTS, encode_predictor
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.tasks.union import NewVersion, TrainingPlan

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
