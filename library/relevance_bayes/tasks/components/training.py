"""Training of components: the file of the rows, and the version of the result."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from relevance_bayes import __version__
from relevance_bayes.core.components import Components
from relevance_bayes.core.selection import Step
from relevance_bayes.documents.members import named_widths
from relevance_bayes.documents.models import ComponentsPredictor, ComponentsReport
from relevance_bayes.plans.requests import ComponentsPlan
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tasks.components.fit import ComponentsFit, FoundComponents
from relevance_bayes.tasks.components.prediction import ComponentsModel
from relevance_bayes.tasks.listing import (
    BlockHolding,
    FunctionLocation,
    Learned,
    NewComponentsVersion,
    baseline_of,
    expected,
    listed_images,
    monitored_of,
    raw_rows,
)
from relevance_bayes.tasks.matrix import Matrix, encoded_matrix
from relevance_bayes.tasks.rows import Read


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
