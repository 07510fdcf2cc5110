"""Evaluations as their owner sees them."""

from pydantic import TypeAdapter

from app.domain import scoring
from app.domain.jobs import Job, scoring_of
from app.domain.requests import EvaluationPlan
from app.evaluation.schemas.figures import evaluation_result
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.types.evaluations import Evaluation

_RECORD: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


def evaluation_record(job: Job, *, pictures: bool = True) -> Evaluation:
    """An evaluation as it goes out; raises TypeError for a job of another kind."""
    _, plan = scoring_of(job)
    if not isinstance(plan, EvaluationPlan):
        raise TypeError(f"expected an evaluation, got {plan}")
    found = job.result if isinstance(job.result, scoring.Evaluation) else None
    own = {"task": plan.task, "target": plan.target, "result": found and evaluation_result(found, pictures=pictures)}
    return _RECORD.validate_python(shared_by_jobs(job) | own)
