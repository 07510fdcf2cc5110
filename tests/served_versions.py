"""Versions prepared to predict with, without a database."""

from app.identity import BUILT_IN_OWNER as OWNER
from app.identity import uuid7
from app.prediction import ServedVersion
from app.prediction.served_versions import serve
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.tasks import task_of
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.tasks.union import NewVersion
from tests.small_tables import NOW


def served(made: NewVersion) -> ServedVersion:
    """The first version of its model."""
    version = Version(uuid7(), OWNER, made.report.plan.model, 1, None, NOW, made.report)
    listed = made.vectors if task_of(made.report).is_explained else ()
    functions = tuple(ListedFunction(one.number, one.kind, one.row, one.input) for one in listed)
    return serve(version, (made.predictor, functions), Counts())
