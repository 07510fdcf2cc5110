"""Whether a challenger takes an alias from its holder."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.domain.scoring.evaluation import Evaluation
from app.domain.scoring.paired import Improvement

Proof: TypeAlias = Literal["interval", "estimate"]
"""What has to lie above the margin: the lower end of the improvement's interval, or the improvement itself."""


@dataclass(frozen=True)
class Promotion:
    """What came of it: whether the alias `moved`, and why.

    `holder` and `improvement` are None where the alias pointed nowhere. `lost_rows` are those that cost the holder
    something, and for which the challenger has no such loss: it can't predict for them, or held what came for
    impossible.
    """

    moved: bool
    reason: str
    challenger: Evaluation
    holder: Evaluation | None = None
    improvement: Improvement | None = None
    lost_rows: int = 0
    kind: Literal["promotion"] = "promotion"


def verdict(improvement: Improvement, *, margin: float, by: Proof, lost_rows: int) -> tuple[bool, str]:
    """Whether the challenger is better by more than the margin, and the sentence that says so.

    A challenger that answers fewer rows than the holder is not: what it left out might have been its worst.
    """
    name = improvement.metric
    if improvement.estimate is None or improvement.lower is None or improvement.upper is None:
        return False, f"There is no row on which both have a {name}."
    told = f"{name} {improvement.holder:.6g} -> {improvement.challenger:.6g}, improvement {improvement.estimate:.4g}"
    told += f" (95 %: {improvement.lower:.4g} to {improvement.upper:.4g})"
    if lost_rows:
        return False, f"{told}, but the challenger has no {name} for {lost_rows:,} rows that the holder answers."
    proved = improvement.lower if by == "interval" else improvement.estimate
    what = "the interval's lower end" if by == "interval" else "the improvement"
    if proved > margin:
        return True, f"{told}: {what} is above the margin of {margin:g}."
    return False, f"{told}: {what} is not above the margin of {margin:g}."
