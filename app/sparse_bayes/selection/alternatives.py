"""What a training compared: the members of what was taken, the alternatives that were not, and what decided."""

from dataclasses import dataclass
from typing import Literal

from app.sparse_bayes.marginal import LogEvidence
from app.sparse_bayes.spec import Spec

ScoreKind = Literal["fold_log_density", "integrated_evidence"]


@dataclass(frozen=True)
class Score:
    """What decided among alternatives, greater is better: all scores of a training are of one kind.

    `fold_log_density`: the mean log density, in nats a row, of the folds' rows by what was learned without them.
    `integrated_evidence`: the log evidence with the hyperparameters integrated out, in nats.
    """

    value: float
    kind: ScoreKind


@dataclass(frozen=True)
class Member:
    """One of the models that predict together, or the only one: its spec and its weight, all of which add to 1.

    `unreduced` is the evidence of the process before few functions took its place, None where there was no reduction;
    `score` that of the member alone, where the folds measured it.
    """

    spec: Spec
    weight: float = 1.0
    unreduced: LogEvidence | None = None
    score: float | None = None


@dataclass(frozen=True)
class Alternative:
    """What was compared and not taken: its score, or the `reason` why it has none.

    One that fell behind on the rows that its scales were learned on was given up: it has no `functions`, and that
    distance, for all rows, as score. Folds measure models before any functions are chosen: these have none either.
    """

    spec: Spec
    score: float | None
    functions: int | None = None
    reason: str | None = None
