"""Explanations of predictions as sums: a baseline, the greatest contributions of functions, and all others; and the
members of predictions, nested as in JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.contributions import Contributions
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.values import Label
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.decisions import Decisions
from relevance_bayes.tasks.prediction import Members

_MAX_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Explanation:
    """N predictions as sums: `baseline` + the sum of `added` (N, k) + `others` (N,) = `mean` (N,).

    `mean` is that of the learned function, in the user's units: of the target under Gaussian and Student-t noise, of
    its logarithm under log-Gaussian noise, of the log rate of counts, of the latent of two classes, and of the
    explained class where each has a latent. `functions` are indices into the model's functions, and `shares` are of the
    absolute contributions of all functions, as in `Contributions`.
    """

    functions: Indices
    added: Array
    shares: Array
    baseline: float
    others: Array
    mean: Array

    @classmethod
    def of(cls, target: EncodedTarget, found: Contributions) -> Self:
        """Return the explanation in the user's units."""
        with np.errstate(over="ignore", invalid="ignore"):
            added = _finite(found.added * target.latent_unit)
            mean = _finite(found.total * target.latent_unit + target.latent_shift)
            others = _finite(mean - target.latent_shift - added.sum(axis=1))
        return cls(found.functions, added, found.shares, target.latent_shift, others, mean)

    def some(self, rows: "slice[int, int, None]") -> Self:
        """Return the explanation of some of the rows."""
        parts = self.functions[rows], self.added[rows], self.shares[rows]
        return type(self)(*parts, self.baseline, self.others[rows], self.mean[rows])

    def spread(self, places: Indices, rows: int) -> Self:
        """Return it with its rows at `places` of so many, NaN at the others."""
        functions = np.zeros((rows, self.functions.shape[1]), np.intp)
        functions[places] = self.functions
        added, shares, others, mean = (
            _spread(part, places, rows) for part in (self.added, self.shares, self.others, self.mean)
        )
        return type(self)(functions, added, shares, self.baseline, others, mean)


def _spread(part: Array, places: Indices, rows: int) -> Array:
    spread = np.full((rows, *part.shape[1:]), np.nan)
    spread[places] = part
    return spread


def _finite(values: Array) -> Array:
    return np.clip(values, -_MAX_FLOAT, _MAX_FLOAT)


Member = Mapping[str, object]


def decision_members(classes: Sequence[Label], decisions: Decisions) -> list[Member]:
    """Return each row's decision: a label, null where the row is rejected."""
    return [
        {"label": None if rejected else classes[place], "expected_cost": cost}
        for place, cost, rejected in zip(
            decisions.chosen.tolist(), decisions.expected_cost.tolist(), decisions.rejected.tolist(), strict=True
        )
    ]


def explanation_members(explanation: Explanation | None, functions: Sequence[ListedFunction]) -> Members:
    """Return the greatest contributions to each row, and their sum, where they were requested."""
    if explanation is None:
        return {}
    reported = [
        [_explained(functions[place], one, share) for place, one, share in zip(places, added, shares, strict=True)]
        for places, added, shares in zip(
            explanation.functions.tolist(), explanation.added.tolist(), explanation.shares.tolist(), strict=True
        )
    ]
    sums = [
        {"baseline": explanation.baseline, "others": others, "mean": mean}
        for others, mean in zip(explanation.others.tolist(), explanation.mean.tolist(), strict=True)
    ]
    return {"explanation": reported, "explanation_sum": sums}


def _explained(function: ListedFunction, added: float, share: float) -> Member:
    return {
        "vector": function.number,
        "kind": function.kind,
        "row": function.row,
        "input": function.input,
        "contribution": added,
        "share": share,
    }


def support_members(support: Array | None, rows: int) -> Sequence[float | None]:
    """Return each row's support, None where the model does not know it."""
    return [None] * rows if support is None else support.tolist()
