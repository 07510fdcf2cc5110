"""Evaluations as their owner sees them."""

from pydantic import TypeAdapter

from app.evaluation.jobs import evaluation_of, evaluation_result_of
from app.evaluation.schemas.figures import evaluation_result
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.types.evaluations import Evaluation

_RECORD: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


def evaluation_record(job: Job, *, pictures: bool = True) -> Evaluation:
    """An evaluation as it goes out; raises TypeError for a job of another kind."""
    _, plan = evaluation_of(job)
    found = evaluation_result_of(job)
    own = {"task": plan.task, "target": plan.target, "result": found and evaluation_result(found, pictures=pictures)}
    return _RECORD.validate_python(shared_by_jobs(job) | own)
