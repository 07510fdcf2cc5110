"""The result of an approximation: the report for its owner, the predictor, and its values."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

import numpy as np

from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.models import TermsError
from relevance_bayes.records.versions import ImportedFrom, OtherMembers
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import InputEncoding, column_names
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.request import ApproximationPlan
from relevance_bayes.tasks.prediction import (
    PredictiveModel,
    PredictOptions,
    ValuePrediction,
    VersionExpansion,
    refuse_all,
    sound_rows,
)


@dataclass(frozen=True)
class ApproximationReport:
    """The report of a version, without its arrays.

    `rows` is the number of terms, `functions` of those kept; `error` is the share of f that they miss, and `path` has
    the lowest error for each number of terms. `integral` is that of f without its constant, and `integral_kept` that of
    the terms kept; `negative` is the integral of their part below 0, before a density was made non-negative. `imported`
    is None for a version trained here; else all other members are those of the original.
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
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})

    @property
    def baseline(self) -> None:
        """None: the rows are terms, and no sample of what is predicted for."""

    @property
    def diagnostics(self) -> None:
        """None: what is given is approximated, and nothing is predicted for rows that were left out."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ApproximationReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ApproximationPredictor:
    """Raw columns to x, and the terms kept."""

    encoding: InputEncoding
    expansion: KernelExpansion


@dataclass(frozen=True, eq=False)
class ApproximationModel(PredictiveModel):
    """The kept terms."""

    predictor: ApproximationPredictor

    @property
    def bytes(self) -> int:
        """Return the memory of its arrays in bytes."""
        terms = self.predictor.expansion
        return terms.centres.nbytes + terms.coefficients.nbytes + terms.widths.nbytes

    def expansion(self) -> VersionExpansion:
        """Return the terms."""
        terms = self.predictor.expansion
        names = column_names(self.predictor.encoding)
        return VersionExpansion(names, terms.centres, terms.widths, terms.coefficients, terms.constant)

    def predict(self, block: Block, options: PredictOptions) -> ValuePrediction:
        """Return the function's values; raises InvalidRequestError for options that only models of data have."""
        refuse_all(options, "A function that is known")
        inputs, sound, faults = sound_rows(self.predictor.encoding, block)
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.expansion(inputs[sound])
        return ValuePrediction(value, faults)
