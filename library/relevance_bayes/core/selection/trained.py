"""The end of a training."""

from dataclasses import dataclass, field

from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, alone
from relevance_bayes.core.selection.local import LocalComparison
from relevance_bayes.core.selection.pooled import Member
from relevance_bayes.core.selection.ranking import RankedModel
from relevance_bayes.core.selection.scoring import Compared, MeasuredRows, Score
from relevance_bayes.core.spec import Spec

NOT_REQUESTED = "No rows were held out: request a validation."


@dataclass(frozen=True)
class DerivedColumns:
    """The comparison of a fit with columns of X that are derived from others, and without.

    `gain` is the score with them less that without, in nats a row, None where they were not compared.
    """

    kept: bool
    gain: float | None


@dataclass(frozen=True, eq=False)
class Trained:
    """The result: the model, the spec as run (with the widths found), and its figures.

    `scores` on the held-out rows, `leave_one_out` and `validation` are empty where there are none; `ranked_models` are
    those that were compared by evidence, the best first. Of a pool `members` are the processes that it kept, `compared`
    the models that the folds evaluated, `score_loss` the loss by its reduction to few functions, and `unreduced` the
    number of functions without it. `score` is that of the validation, or the reason why there is none. Models that
    could not be fitted are in `compared` too, with the reason. Of a model for each class `class_specs` are the members'
    specs. `local` is the comparison with nearest-neighbour processes. Figures are in the units of t. `left_out` are the
    rows that `validation` measured, and `held_out` those of `scores`, with their predictions; None without any.
    `derived` is the comparison with derived columns, None without any.
    """

    learned: LearnedModel
    spec: Spec
    scores: dict[str, float]
    leave_one_out: dict[str, float]
    ranked_models: tuple[RankedModel, ...] = ()
    validation: dict[str, float] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    compared: tuple[Compared, ...] = ()
    score_loss: float | None = None
    class_specs: tuple[Spec, ...] = ()
    unreduced: int | None = None
    score: Score = field(default_factory=lambda: Score.none(NOT_REQUESTED))
    local: LocalComparison | None = None
    left_out: MeasuredRows | None = None
    held_out: MeasuredRows | None = None
    derived: DerivedColumns | None = None

    @property
    def model(self) -> Model:
        """The model, where it is a single one; raises SparseBayesError for a pool."""
        return alone(self.learned)
