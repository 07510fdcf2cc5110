"""Results of evaluations and promotions."""

from dataclasses import dataclass
from typing import Literal

from app.evaluation.metrics.classes import ClassResult
from app.evaluation.metrics.numbers import NumberResult


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation on a dataset.

    Rows `without_target` have no target to compare with; `rows_not_predicted` have one, but can't be predicted. Neither
    are counted in the `figures`. Of the counted rows, the version was trained on `seen_in_training`; a promotion leaves
    these out of the figures. None where the training rows are unknown: for an imported version, for one whose training
    dataset was deleted, and in evaluations of older releases.
    """

    figures: NumberResult | ClassResult
    without_target: int
    rows_not_predicted: int
    seen_in_training: int | None = None
    kind: Literal["evaluation"] = "evaluation"
