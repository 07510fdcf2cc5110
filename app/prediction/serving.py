"""Loading of versions: what is stored, and the model made of it."""

from typing import TypeAlias

from app.database.transaction import Transaction
from app.prediction import ServedVersion
from app.prediction.drift_monitors import DriftMonitors
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.registry.repository import ModelRepository
from app.registry.vector_repository import VectorRepository
from app.tasks.union import task_of
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.tasks.union import Predictor

Stored: TypeAlias = tuple[Predictor, tuple[ListedFunction, ...]]


def stored(tx: Transaction, version: Version) -> Stored:
    """Return the stored parts of a version, decoded; raises NotFoundError where it was deleted."""
    return ModelRepository(tx).predictor(version.id), _explaining(tx, version)


def serve(version: Version, kept: Stored, counts: Counts, monitors: DriftMonitors | None = None) -> ServedVersion:
    """Return the loaded version, its model factorised: outside of transactions. `counts` are of its requests."""
    predictor, functions = kept
    plan, model = version.report.plan, task_of(version.report).model(version.report, predictor)
    return ServedVersion(
        version,
        model,
        functions,
        tuple((column.name, column.kind) for column in plan.inputs),
        frozenset({*(() if plan.target is None else (plan.target,)), *(column.name for column in plan.ignored)}),
        counts,
        None if monitors is None else monitors.of(version, model.classes),
    )


def _explaining(tx: Transaction, version: Version) -> tuple[ListedFunction, ...]:
    """Return the functions that explanations name."""
    return VectorRepository(tx).listed(version.id) if task_of(version.report).is_explained else ()
