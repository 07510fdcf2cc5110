"""Training of a supervised task: the file of its rows, and the version of the result."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from relevance_bayes.core.selection import FOLDS, NORMAL, THOROUGH, Bounds, Step, Trained
from relevance_bayes.plans.requests import Effort, GroupSplit, OrderSplit, RandomSplit, Split, SupervisedPlan
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tables.encoding import in_columns, in_target_units
from relevance_bayes.tasks.complete_rows import Read
from relevance_bayes.tasks.learned import NewSupervisedVersion, expected
from relevance_bayes.tasks.listing import BlockHolding
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
        target = made.encoding.target
        return SupervisedFit(
            made.path,
            made.training,
            made.held_out,
            made.inputs,
            in_target_units(in_columns(plan.spec, made.encoding), target),
            _folding(plan.split),
            compared_models=tuple(in_target_units(other_fit, target) for other_fit in plan.compared_models),
            pool=tuple(in_target_units(member, target) for member in plan.pool),
            alternatives=plan.alternatives,
            folds=_folds(plan),
            bounds=_bounds(plan),
            max_score_loss=plan.max_score_loss,
            local=None if plan.local is None else plan.local.choice,
            derived=made.encoding.derived,
        )

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step in the user's units."""
        return progress(step, self.made)

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewSupervisedVersion:
        """Return the version to record."""
        return new_version(
            self.plan, self.dataset, expected(result, Trained), made=self.made, seconds=seconds, holding=holding
        )


def _folds(plan: SupervisedPlan) -> int:
    """Return the requested number of folds; by default that of the effort."""
    return plan.validation.folds if plan.validation is not None else FOLDS_OF[plan.effort]


def _bounds(plan: SupervisedPlan) -> Bounds | None:
    """Return the bounds of the folds' cost; None where folds are requested: they are computed at any cost."""
    if plan.validation is not None:
        return None
    return THOROUGH if plan.effort == "thorough" else NORMAL


FOLDS_OF: dict[Effort, int] = {"quick": 0, "normal": FOLDS, "thorough": 2 * FOLDS}


def _folding(split: Split) -> Literal["random", "groups", "order"]:
    match split:
        case RandomSplit():
            return "random"
        case GroupSplit():
            return "groups"
        case OrderSplit():
            return "order"
