"""The report and the predictor of an approximation."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.plans.requests import ApproximationPlan
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import TermsError


@dataclass(frozen=True)
class ApproximationReport:
    """The report of a version, without its arrays.

    `rows` counts the terms there were, `functions` those kept; `error` is the share of f that they miss, and `path` has
    the least met with so many. `integral` is that of f without its constant, and `integral_kept` that of the terms
    kept; `negative` is the integral of what lies below 0 of these, before they were made a density where that was
    asked for. `imported` is None for what was trained here; else all other figures are those of where it was.
    """

    plan: ApproximationPlan
    functions: int
    rows: int
    error: float
    path: tuple[TermsError, ...]
    integral: float
    integral_kept: float
    integral_negative: float
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["approximation"] = "approximation"
    imported: ImportedFrom | None = None


@dataclass(frozen=True, eq=False)
class ApproximationPredictor:
    """Raw columns to x, and the terms that were kept."""

    encoding: InputEncoding
    expansion: Expansion
