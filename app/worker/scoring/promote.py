"""Whether a challenger is better than the version to which an alias points, on the same rows; if so, the alias moves.

As an evaluation it keeps nothing on the way; its replicates are drawn by a seed, so that a start that begins anew finds
the same.
"""

import numpy as np

from app.domain.aliases import LONGEST_REASON
from app.domain.conditions import UNCONDITIONAL
from app.domain.errors import ConflictError, NotFoundError
from app.domain.jobs import Job, Problem
from app.domain.ports import UnitOfWork
from app.domain.requests import PromotionPlan
from app.domain.scoring import Metric, Paired, Promotion, losses, verdict
from app.services.answering import JudgedBlock, judge
from app.sparse_bayes.types import Array
from app.worker.attempts import Attempt
from app.worker.scoring.rows import told_blocks, version_at_hand
from app.worker.scoring.tally import Tally

HOLDER_CHANGED = Problem(
    "holder-changed",
    "The alias points to another version by now",
    "While the two versions were compared, somebody moved or removed the alias: compare with the one that holds it now,"
    " by doing this job again.",
)


def promote(attempt: Attempt, job: Job, plan: PromotionPlan) -> Promotion:
    """What is to become of the alias; raises NoLongerOurs, HandedBack."""
    challenger = version_at_hand(attempt, job, plan.version)
    seen = Tally.of(challenger)
    if plan.holder is None:
        for block in told_blocks(attempt, job, phase="compare"):
            seen.add(judge(challenger, block))
        return Promotion(True, "The alias pointed to no version.", seen.result())
    holder = version_at_hand(attempt, job, plan.holder)
    seen_of_holder, paired, lost_rows = Tally.of(holder), Paired(plan.metric, plan.seed), 0
    for block in told_blocks(attempt, job, phase="compare"):
        ours, theirs = judge(challenger, block), judge(holder, block)
        seen.add(ours)
        seen_of_holder.add(theirs)
        costs, costs_of_holder = _costs(ours, plan.metric), _costs(theirs, plan.metric)
        lost_rows += int((np.isnan(costs) & ~np.isnan(costs_of_holder)).sum())
        paired.add(costs_of_holder, costs)
    improvement = paired.result()
    moved, reason = verdict(improvement, margin=plan.margin, by=plan.by, lost_rows=lost_rows)
    return Promotion(moved, reason, seen.result(), seen_of_holder.result(), improvement, lost_rows)


def conclude(attempt: Attempt, job: Job, plan: PromotionPlan, found: Promotion) -> None:
    """Record the end and move the alias, all or nothing, if its holder is still the one compared with.

    Raises HandedBack.
    """
    try:
        attempt.records.insist(lambda uow: _end(attempt, job, plan, found, uow))
    except ConflictError as refused:  # a new alias, and the model has as many as it may
        attempt.fail(Problem("alias-refused", "The alias can't be made", refused.detail))


def _end(attempt: Attempt, job: Job, plan: PromotionPlan, found: Promotion, uow: UnitOfWork) -> None:
    # Held first: nobody moves an alias of the model between this look and the move.
    uow.models.hold(job.owner, plan.model)
    if _holder(uow, job.owner, plan) != plan.holder:
        uow.jobs.fail(attempt.job_id, attempt.number, HOLDER_CHANGED)
    elif uow.jobs.conclude(attempt.job_id, attempt.number, found) and found.moved:
        reason = f"Promotion {attempt.job_id}: {found.reason}"[:LONGEST_REASON]
        alias, to = plan.alias, plan.version
        uow.aliases.move(job.owner, plan.model, alias, to=to, by=job.owner, reason=reason, condition=UNCONDITIONAL)


def _holder(uow: UnitOfWork, owner: str, plan: PromotionPlan) -> int | None:
    try:
        return uow.aliases.get(owner, plan.model, plan.alias).version
    except NotFoundError:
        return None


def _costs(found: JudgedBlock, metric: Metric) -> Array:
    """What each row of the block costs (N,), NaN where that is not known."""
    costs = np.full(len(found.chosen), np.nan)
    costs[found.chosen] = np.concatenate([losses(part, metric) for part in found.judged] or [np.empty(0)])
    return costs
