"""Training of a sparse approximation: the file of its terms, and the version of the result."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app import __version__
from app.datasets.records import Dataset
from relevance_bayes.core.selection import Step
from relevance_bayes.documents.models import ApproximationPredictor, ApproximationReport
from relevance_bayes.plans.requests import ApproximationPlan
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.models import TermsError
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.approximation.fit import Approximated, ApproximationFit
from relevance_bayes.tasks.listing import (
    BlockHolding,
    FunctionLocation,
    Learned,
    NewApproximationVersion,
    expected,
    listed_terms,
    raw_rows,
)
from relevance_bayes.tasks.matrix import Matrix, write_matrix
from relevance_bayes.tasks.rows import Read, complete_rows


@dataclass(frozen=True)
class ApproximationTraining:
    """A plan, and the file of the terms: their inputs, coefficients if any, and row numbers."""

    plan: ApproximationPlan
    dataset: Dataset
    terms: Matrix

    @classmethod
    def prepare(cls, plan: ApproximationPlan, dataset: Dataset, read: Read, directory: Path) -> "ApproximationTraining":
        """Write the terms into `directory`; raises TrainingFailedError."""
        beside = [] if plan.coefficients is None else [plan.coefficients]
        columns = InputEncoding.plain([*(column.name for column in plan.inputs), *beside])
        parts = complete_rows(read, plan.inputs, beside=beside, needed=())
        return cls(plan, dataset, write_matrix(columns, parts, directory / "terms.f64"))

    @property
    def fit(self) -> ApproximationFit:
        """Return the order to the child process."""
        plan = self.plan
        return ApproximationFit(
            self.terms.path,
            self.terms.rows,
            plan.widths,
            coefficients=plan.coefficients is not None,
            constant=plan.constant,
            tolerance=plan.tolerance,
            maximum=plan.max_functions,
            density=plan.density,
        )

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step, which has no unit."""
        return Progress(step.phase, step.completed, step.total, step.unit, functions=step.functions)

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewApproximationVersion:
        """Return the version to record."""
        done = expected(result, Approximated)
        found, expansion = done.found, done.found.expansion
        report = ApproximationReport(
            plan=self.plan,
            functions=expansion.size,
            rows=self.terms.rows,
            error=found.error,
            path=tuple(TermsError(number, error) for number, error in found.path),
            integral=done.integral,
            integral_kept=expansion.mass,
            integral_negative=done.negative,
            dataset_id=self.dataset.id,
            dataset_digest=self.dataset.digest,
            seconds=seconds,
            software_version=__version__,
        )
        encoding = InputEncoding.plain([column.name for column in self.plan.inputs])
        return Learned(report, tuple(self._vectors(done, holding)), ApproximationPredictor(encoding, expansion))

    def _vectors(self, result: Approximated, holding: BlockHolding) -> Iterator[RelevanceVector]:
        """Yield the kept terms with their rows."""
        names = [column.name for column in self.plan.inputs]
        numbers = self.terms.mapped()[result.found.rows, -1].astype(int).tolist()
        integral = [column.name for column in self.dataset.columns if column.integral]
        cells = raw_rows(numbers, names, integral, holding)
        return listed_terms(
            result.found.expansion, names, (FunctionLocation("gaussian", row=row, cells=cells[row]) for row in numbers)
        )
