"""Promotion: an alias moves to a challenger that is better than the champion on the same rows.

Like an evaluation, a promotion stores no checkpoint: a new attempt gives the same result. Rows that either version was
trained on are left out.
"""

from dataclasses import dataclass

import numpy as np

from app.database.transaction import Transaction
from app.errors import ConflictError
from app.evaluation.evaluate import ScoreAccumulator
from app.evaluation.jobs import PROMOTION_RESULT, PromotionPlan
from app.evaluation.metrics.losses import losses
from app.evaluation.metrics.paired import PairedDifferences, verdict
from app.http.conditional_requests import UNCONDITIONAL
from app.jobs.records import Job, JobFailure
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import JobAttempt
from app.prediction import ServedVersion, evaluate_block
from app.prediction.dataset_rows import (
    KEY_SEED,
    KnownRows,
    reported_blocks,
    seen_rows,
    training_rows_of,
    version_at_hand,
)
from app.registry.alias_repository import AliasRepository
from app.registry.repository import ModelRepository
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.evaluations import AnyPromotionResult, Metric, PromotionRequest, PromotionResult
from relevance_bayes.records.models import MAX_REASON_LENGTH
from relevance_bayes.tables.columns import Block, block_rows, taken
from relevance_bayes.tasks.prediction import LabelledBlock
from relevance_bayes.tasks.rows import content_hash

ALIAS_MOVED = JobFailure(
    "alias-moved",
    "The alias points to another version by now",
    "The alias was moved or removed while the two versions were compared: retry the job to compare with the version "
    "that it points to now.",
)


def promote(attempt: JobAttempt, job: Job, request: PromotionRequest, plan: PromotionPlan) -> AnyPromotionResult:
    """Return the decision on the alias; raises Superseded, Interrupted."""
    challenger = _Compared.of(attempt, job, plan.version)
    if plan.champion is None:
        return _without_holder(attempt, job, challenger)
    holder = _Compared.of(attempt, job, plan.champion)
    differences, lost_rows = PairedDifferences(plan.metric, grouped=plan.groups is not None), 0
    seen = 0
    for whole in reported_blocks(attempt, job, phase="compare"):
        block = _unseen(whole, challenger, holder)
        seen += block_rows(whole) - block_rows(block)
        costs, costs_of_holder = (
            _costs(version.evaluate_block(block), plan.metric) for version in (challenger, holder)
        )
        lost_rows += int((np.isnan(costs) & ~np.isnan(costs_of_holder)).sum())
        groups = None if plan.groups is None else content_hash(block, (plan.groups,), KEY_SEED)
        differences.add(costs_of_holder, costs, groups)
    improvement = differences.result()
    moved, reason = verdict(improvement, margin=request.margin, by=request.criterion, lost_rows=lost_rows)
    reason += _unknown(challenger, holder)
    return PromotionResult(
        moved=moved,
        reason=reason,
        improvement=improvement,
        rows_seen_in_training=seen,
        rows_without_challenger_loss=lost_rows,
        challenger=challenger.accumulator.result(),
        champion=holder.accumulator.result(),
    )


@dataclass(frozen=True)
class _Compared:
    """A compared version, its training rows, and its metrics so far."""

    served: ServedVersion
    training_rows: KnownRows
    accumulator: ScoreAccumulator

    @classmethod
    def of(cls, attempt: JobAttempt, job: Job, number: int) -> "_Compared":
        """Return it without rows; raises Superseded, Interrupted."""
        served = version_at_hand(attempt, job, number)
        training_rows = training_rows_of(attempt, job, served.version)
        return cls(served, training_rows, ScoreAccumulator.of(served, training_rows))

    def evaluate_block(self, block: Block) -> LabelledBlock:
        """Return the version's predictions with the truth, after adding them to its metrics."""
        found = evaluate_block(self.served, block)
        self.accumulator.add(found)
        return found


def _without_holder(attempt: JobAttempt, job: Job, challenger: _Compared) -> AnyPromotionResult:
    seen = 0
    for whole in reported_blocks(attempt, job, phase="compare"):
        block = _unseen(whole, challenger)
        seen += block_rows(whole) - block_rows(block)
        challenger.evaluate_block(block)
    reason = f"The alias pointed to no version.{_unknown(challenger)}"
    return PromotionResult(
        moved=True,
        reason=reason,
        improvement=None,
        rows_seen_in_training=seen,
        rows_without_challenger_loss=0,
        challenger=challenger.accumulator.result(),
        champion=None,
    )


def _unseen(block: Block, *versions: _Compared) -> Block:
    """Return the rows of a block that no version was trained on."""
    seen = np.zeros(block_rows(block), np.bool_)
    for version in versions:
        known = seen_rows(block, version.training_rows)
        version.accumulator.count_seen(known)
        seen |= known
    kept = np.flatnonzero(~seen)
    return block if len(kept) == len(seen) else {name: taken(column, kept) for name, column in block.items()}


def _unknown(*versions: _Compared) -> str:
    """Return a sentence about versions whose training rows are unknown and may be among those compared."""
    numbers = [str(version.served.version.number) for version in versions if version.training_rows is None]
    if not numbers:
        return ""
    versions_ = "version" if len(numbers) == 1 else "versions"
    return f" The rows that {versions_} {' and '.join(numbers)} learned from are not known, so none was left out."


def conclude(attempt: JobAttempt, job: Job, plan: PromotionPlan, found: AnyPromotionResult) -> None:
    """Record the end and move the alias in one transaction, if it still points to the version compared with.

    Raises Interrupted.
    """
    try:
        attempt.records.retry(lambda tx: _end(attempt, job, plan, found, tx))
    except ConflictError as refusal:  # a new alias of a model that has the maximum
        attempt.fail(JobFailure("alias-refused", "The alias can't be made", refusal.detail))


def _end(attempt: JobAttempt, job: Job, plan: PromotionPlan, found: AnyPromotionResult, tx: Transaction) -> None:
    # Locked first: no other transaction moves an alias of the model between this read and the move.
    ModelRepository(tx).lock(job.owner, plan.model)
    if _holder(tx, job.owner, plan) != plan.champion:
        JobRepository(tx).fail(attempt.job_id, attempt.number, ALIAS_MOVED)
    elif JobRepository(tx).conclude(attempt.job_id, attempt.number, PROMOTION_RESULT.write(found)) and found.moved:
        reason = f"Promotion {attempt.job_id}: {found.reason}"[:MAX_REASON_LENGTH]
        alias, to, by = plan.alias, plan.version, job.submitted_by or job.owner
        AliasRepository(tx).move(job.owner, plan.model, alias, to=to, by=by, reason=reason, condition=UNCONDITIONAL)


def _holder(tx: Transaction, owner: str, plan: PromotionPlan) -> int | None:
    try:
        return AliasRepository(tx).get(owner, plan.model, plan.alias).version
    except NotFoundError:
        return None


def _costs(found: LabelledBlock, metric: Metric) -> Array:
    """Return the loss of each row of the block (N,), NaN where it is unknown."""
    costs = np.full(len(found.chosen), np.nan)
    costs[found.places] = np.concatenate([losses(part, metric) for part in found.labelled] or [np.empty(0)])
    return costs
