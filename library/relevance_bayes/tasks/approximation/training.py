"""Training of a sparse approximation: the file of its terms, and the version of the result."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from relevance_bayes import __version__
from relevance_bayes.core.selection import Step
from relevance_bayes.records.functions import InputShape, RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.models import TermsError
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.fit import Approximated, ApproximationFit
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.approximation.request import ApproximationPlan
from relevance_bayes.tasks.listing import BlockHolding, FunctionLocation, Learned, expected, raw_rows
from relevance_bayes.tasks.rows import Matrix, Read, complete_rows, write_matrix

NewApproximationVersion: TypeAlias = Learned[ApproximationReport, ApproximationPredictor]


@dataclass(frozen=True)
class ApproximationTraining:
    """A plan, and the file of the terms: their inputs, coefficients if any, and row numbers."""

    plan: ApproximationPlan
    dataset: IdentifiedTable
    terms: Matrix

    @classmethod
    def prepare(
        cls, plan: ApproximationPlan, dataset: IdentifiedTable, read: Read, directory: Path
    ) -> "ApproximationTraining":
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


def listed_terms(
    terms: KernelExpansion, names: Sequence[str], found: Iterable[FunctionLocation]
) -> Iterator[RelevanceVector]:
    """Yield the terms of a known function at these locations, over the inputs with these names.

    Their coefficients minimise the error; no prior is involved.
    """
    numbers = zip(terms.coefficients.tolist(), terms.centres.tolist(), terms.widths.tolist(), strict=True)
    for number, (place, (coefficient, stands, spreads)) in enumerate(zip(found, numbers, strict=True), 1):
        yield RelevanceVector(
            number=number,
            kind=place.kind,
            row=place.row,
            inputs=place.cells,
            weight_mean=coefficient,
            weight_sd=0.0,
            alpha=0.0,
            gamma=1.0,
            shape=tuple(
                InputShape(name, at, span, None) for name, at, span in zip(names, stands, spreads, strict=True)
            ),
        )
