"""Promotions as their owner sees them."""

from pydantic import TypeAdapter

from app.evaluation import promotion_results
from app.evaluation.jobs import promotion_of, promotion_result_of
from app.evaluation.schemas.figures import Diagnostics, Metrics, evaluation_result
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.types.promotions import Promotion, PromotionResult

_RECORD: TypeAdapter[Promotion] = TypeAdapter(Promotion)


def promotion_record(job: Job, *, pictures: bool = True) -> Promotion:
    """A promotion as it goes out; raises TypeError for a job of another kind."""
    _, plan = promotion_of(job)
    found = promotion_result_of(job)
    own = {
        "task": plan.task,
        "target": plan.target,
        "alias": plan.alias,
        "champion": plan.champion,
        "metric": plan.metric,
        "margin": plan.margin,
        "criterion": plan.criterion,
        "seed": plan.seed,
        "groups": plan.groups,
        "result": found and _result(found, pictures=pictures),
    }
    return _RECORD.validate_python(shared_by_jobs(job) | own)


def _result(found: promotion_results.Promotion, *, pictures: bool) -> PromotionResult[Metrics, Diagnostics]:
    champion = found.champion
    return PromotionResult(
        moved=found.moved,
        reason=found.reason,
        improvement=found.improvement,
        rows_seen_in_training=found.rows_seen_in_training,
        rows_without_challenger_loss=found.rows_without_challenger_loss,
        challenger=evaluation_result(found.challenger, pictures=pictures),
        champion=None if champion is None else evaluation_result(champion, pictures=pictures),
    )
