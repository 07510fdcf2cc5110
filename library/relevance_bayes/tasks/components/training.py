"""Training of components: the file of the rows, and the version of the result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from relevance_bayes import __version__
from relevance_bayes.core.selection import Step
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tables.statistics import InputStatistics
from relevance_bayes.tasks.components.fit import ComponentsFit, FoundComponents
from relevance_bayes.tasks.components.report import ComponentsModel, ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.components.request import ComponentsPlan
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.listing import (
    BlockHolding,
    FunctionLocation,
    Learned,
    baseline_of,
    expected,
    monitored_of,
    named_widths,
    raw_rows,
)
from relevance_bayes.tasks.rows import (
    CompleteRows,
    Matrix,
    Read,
    RowSample,
    canonical_order,
    complete_rows,
    refuse_too_few,
    refuse_too_many,
    write_matrix,
)

NewComponentsVersion: TypeAlias = Learned[ComponentsReport, ComponentsPredictor]


@dataclass(frozen=True)
class ComponentsTraining:
    """A plan, and the file of the encoded rows."""

    plan: ComponentsPlan
    dataset: IdentifiedTable
    made: Matrix

    @classmethod
    def prepare(
        cls, plan: ComponentsPlan, dataset: IdentifiedTable, read: Read, directory: Path, *, max_cells: int
    ) -> "ComponentsTraining":
        """Write the rows into `directory`; raises TrainingFailedError."""
        return cls(plan, dataset, encoded_matrix(plan, read, directory / "rows.f64", max_cells=max_cells))

    @property
    def fit(self) -> ComponentsFit:
        """Return the order to the child process; a list of widths is expanded to the encoded columns."""
        plan, made = self.plan, self.made
        widths = plan.widths
        if widths is not None and len(widths) > 1:
            named = {column.name: width for column, width in zip(plan.inputs, widths, strict=True)}
            widths = tuple(named[column.name] for column in made.encoding.inputs for _ in range(column.width))
        return ComponentsFit(
            made.path,
            made.rows,
            made.encoding.width,
            plan.kernel,
            widths,
            explained=plan.min_explained_variance,
            seed=plan.seed,
        )

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step, which has no unit."""
        return Progress(step.phase, step.completed, step.total, step.unit, functions=step.functions)

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewComponentsVersion:
        """Return the version to record."""
        done = expected(result, FoundComponents)
        found = done.found
        report = ComponentsReport(
            plan=self.plan,
            functions=len(found.rows),
            rows=self.made.rows,
            rows_drawn=done.drawn,
            rows_dropped=self.made.dropped,
            widths=self._widths(found),
            explained_variance=done.reached,
            noise_variance=found.noise_variance,
            variances=tuple(found.variances.tolist()),
            log_marginal_likelihood=found.evidence,
            dataset_id=self.dataset.id,
            dataset_digest=self.dataset.digest,
            seconds=seconds,
            software_version=__version__,
        )
        predictor = ComponentsPredictor(self.made.encoding, found, done.log_densities)
        sample = self.made.sample
        baseline = baseline_of(sample, self.plan.inputs, None, monitored_of(sample, ComponentsModel(predictor)))
        return Learned(replace(report, baseline=baseline), tuple(self._vectors(found, holding)), predictor)

    def _widths(self, found: Components) -> tuple[InputWidth, ...]:
        if len(found.input_map.widths) == 1:
            return (InputWidth(None, float(found.input_map.widths[0])),)
        return tuple(named_widths(found.input_map, self.made.encoding, [column.name for column in self.plan.inputs]))

    def _vectors(self, found: Components, holding: BlockHolding) -> Iterator[RelevanceVector]:
        """Yield the kept rows."""
        names = [column.name for column in self.plan.inputs]
        numbers = self.made.mapped()[found.rows, -1].astype(int).tolist()
        integral = [column.name for column in self.dataset.columns if column.integral]
        cells = raw_rows(numbers, names, integral, holding)
        return listed_images(found, (FunctionLocation(found.kernel.type, row=row, cells=cells[row]) for row in numbers))


def listed_images(components: Components, found: Iterable[FunctionLocation]) -> Iterator[RelevanceVector]:
    """Yield the rows that span components, at these locations; raises NotPositiveDefiniteError.

    The listed weight is that of the outer product of each row's image in the maximum likelihood covariance.
    """
    numbers = zip(components.weights.tolist(), components.gamma.tolist(), strict=True)
    for number, (place, (weight, gamma)) in enumerate(zip(found, numbers, strict=True), 1):
        yield RelevanceVector(
            number=number,
            kind=place.kind,
            row=place.row,
            inputs=place.cells,
            weight_mean=weight,
            weight_sd=0.0,
            alpha=1.0 / weight,
            gamma=gamma,
        )


def encoded_matrix(plan: ComponentsPlan, read: Read, path: Path, *, max_cells: int) -> Matrix:
    """Write the rows in canonical order, encoded by their own statistics; raises TrainingFailedError."""
    needed = [] if plan.missing == "indicator" else [column.name for column in plan.inputs]
    ordered = canonical_order(
        lambda: complete_rows(read, plan.inputs, needed=needed), plan.inputs, path.parent, max_cells=max_cells
    )
    statistics = InputStatistics(ordered.inputs, standardise=plan.standardise, missing=plan.missing)
    for part in ordered.parts():
        statistics.add(part.block, np.ones(len(part.numbers), np.bool_))
    refuse_too_few(statistics.rows)
    encoding = statistics.encoding()
    refuse_too_many(statistics.rows * encoding.width, maximum=max_cells)
    sample = RowSample([column.name for column in plan.inputs], rows=statistics.rows)
    matrix = write_matrix(encoding, _sampled(ordered.parts(), sample), path)
    return replace(matrix, sample=sample.block())


def _sampled(parts: Iterable[CompleteRows], sample: RowSample) -> Iterator[CompleteRows]:
    for part in parts:
        sample.add(part.block, np.ones(len(part.numbers), np.bool_), part.draws)
        yield part
