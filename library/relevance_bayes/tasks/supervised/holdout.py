"""The rows of a dataset that are held out: those of least rank; at random, rows with equal inputs stay together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Mask
from relevance_bayes.plans.recurring_rows import InputLevels, RecurringRows
from relevance_bayes.plans.requests import RandomSplit, SupervisedPlan
from relevance_bayes.plans.split import NOTHING, Cut, Ranks, content_hash, cut, held_out_rows, ranks
from relevance_bayes.tasks.complete_rows import Part
from relevance_bayes.types.errors import TrainingFailedError


@dataclass(frozen=True)
class Holdout:
    """The threshold of the ranks and, at random, those of rows with equal inputs, else None."""

    plan: SupervisedPlan
    where: Cut
    recurring: RecurringRows | None = None

    @classmethod
    def of(cls, plan: SupervisedPlan, parts: Iterable[Part]) -> "Holdout":
        """Return the holdout of all usable rows; raises TrainingFailedError where none can be held out as planned."""
        contents, places = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        levels = InputLevels([column.name for column in plan.inputs])
        at_random = isinstance(plan.split, RandomSplit)
        for part in parts:
            contents.append(_ranks(plan, part))
            if at_random:
                places.append(_places(plan, part))
                levels.add(part.block)
        everything, recurring = np.concatenate(contents), None
        if at_random:
            maximum = held_out_rows(len(everything), plan.holdout)
            recurring = RecurringRows.of(everything, np.concatenate(places), few_levels=levels.is_few, maximum=maximum)
            everything = recurring.begun()(everything, np.concatenate(places))
        where = cut(plan.split, everything, plan.holdout)
        if where == NOTHING and len(everything) > 1 and not isinstance(plan.split, RandomSplit):
            column = plan.split.column
            raise TrainingFailedError(
                f"`{column}` is the same in all rows without gaps, so none can be held out by it; split by another"
                " column.",
                kind="nothing-to-hold-out",
            )
        return cls(plan, where, recurring)

    def divide(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Mask]]:
        """Yield every part of a pass with the mask (N,) of its held-out rows."""
        where, recurring = self.where, None if self.recurring is None else self.recurring.begun()
        for part in parts:
            if where == NOTHING:
                yield part, np.zeros(len(part.numbers), np.bool_)
                continue
            found = _ranks(self.plan, part)
            held_out, where = where.apply(found if recurring is None else recurring(found, _places(self.plan, part)))
            yield part, held_out


def _ranks(plan: SupervisedPlan, part: Part) -> Ranks:
    names = [plan.target, *(column.name for column in plan.inputs)]
    return ranks(plan.split, part.block, numbers=part.numbers, names=names, seed=plan.spec.seed)


def _places(plan: SupervisedPlan, part: Part) -> Ranks:
    return content_hash(part.block, [column.name for column in plan.inputs], plan.spec.seed)
