"""Training of a supervised task: the file of its rows, and the version of the result."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from relevance_bayes.core.selection import Selection, Step, Trained
from relevance_bayes.core.spec import Spec
from relevance_bayes.plans.cost import bounds_of, fitted_spec, folds_of
from relevance_bayes.plans.requests import GroupSplit, OrderSplit, RandomSplit, Split, SupervisedPlan
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tables.encoding import in_columns, in_target_units
from relevance_bayes.tasks.listing import BlockHolding, NewSupervisedVersion, expected
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from relevance_bayes.tasks.supervised.materialise import Materialised, materialise
from relevance_bayes.tasks.supervised.report import new_version, progress
from relevance_bayes.types.jobs import Progress


@dataclass(frozen=True)
class SupervisedTraining:
    """A plan, and the file of its rows."""

    plan: SupervisedPlan
    dataset: IdentifiedTable
    made: Materialised

    @classmethod
    def prepare(
        cls, plan: SupervisedPlan, dataset: IdentifiedTable, read: Read, directory: Path, *, max_cells: int
    ) -> "SupervisedTraining":
        """Write the rows into `directory`; raises TrainingFailedError."""
        return cls(plan, dataset, materialise(plan, read, directory, max_cells=max_cells))

    @property
    def fit(self) -> SupervisedFit:
        """Return the order to the child process."""
        plan, made = self.plan, self.made
        target, encoded = made.encoding.target, {one.name for one in made.encoding.inputs}
        names = [column.name for column in plan.inputs if column.name in encoded]

        def fitted(spec: Spec) -> Spec:
            return in_target_units(fitted_spec(spec, plan.effort, made.training), target)

        return SupervisedFit(
            made.path,
            made.training,
            made.held_out,
            made.inputs,
            Selection(
                fitted(in_columns(plan.spec, made.encoding, names)),
                compared_models=tuple(map(fitted, plan.compared_models)),
                pool=tuple(map(fitted, plan.pool)),
                alternatives=tuple(map(fitted, plan.alternatives)),
                local=None if plan.local is None else plan.local.choice,
                folds=folds_of(plan),
                bounds=bounds_of(plan),
                max_score_loss=plan.max_score_loss,
            ),
            _folding(plan.split),
            derived=made.encoding.derived,
            replaced=made.replaced,
            texts=tuple(at for start, one in made.encoding.layout.effects for at in range(start, start + one.width)),
        )

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step in the user's units."""
        return progress(step, self.made)

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewSupervisedVersion:
        """Return the version to record."""
        return new_version(
            self.plan, self.dataset, expected(result, Trained), made=self.made, seconds=seconds, holding=holding
        )


def _folding(split: Split) -> Literal["random", "groups", "order"]:
    match split:
        case RandomSplit():
            return "random"
        case GroupSplit():
            return "groups"
        case OrderSplit():
            return "order"
