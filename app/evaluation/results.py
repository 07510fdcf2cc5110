"""Results of evaluations and promotions."""

from dataclasses import dataclass
from typing import Literal

from app.evaluation.metrics.classes import ClassResult
from app.evaluation.metrics.numbers import NumberResult


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation on a dataset.

    Rows `without_target` have nothing to be judged by; `rows_not_predicted` have, but hold what the version can't
    predict for. Neither are among the `figures`. Of the rows that are, the version was trained on `seen_in_training`;
    in a promotion these are left out of the figures. None where the training rows are not known: of an imported
    version, of one whose training dataset is deleted, and in evaluations that are older than this.
    """

    figures: NumberResult | ClassResult
    without_target: int
    rows_not_predicted: int
    seen_in_training: int | None = None
    kind: Literal["evaluation"] = "evaluation"
