"""Members of predictions of numbers and classes, nested as in JSON."""

from collections.abc import Mapping, Sequence

from relevance_bayes.core.types import Array
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.decisions import Decisions
from relevance_bayes.tasks.prediction import Members
from relevance_bayes.tasks.supervised.explanation import Explanation

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
