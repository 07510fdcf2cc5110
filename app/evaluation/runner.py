"""One start of a job that scores: claim it, do it here, record how that ended."""

from dataclasses import dataclass
from uuid import UUID

from app.domain.jobs import Job, JobResult, Problem, scoring_of
from app.domain.requests import EvaluationPlan, PredictionPlan, PromotionPlan
from app.evaluation.evaluate import evaluate
from app.evaluation.promote import conclude, promote
from app.jobs.worker.attempts import Attempt, Records, Superseded, TimeLimitExceeded
from app.jobs.worker.problems import TOO_LONG
from app.jobs.worker.retry import Interrupted
from app.storage.repositories import JobRepository


@dataclass(frozen=True)
class Scorer:
    """Runs jobs that ask versions, each in the thread that calls; a lost database is waited for.

    `program` says which one this is: files that others have begun are made anew.
    """

    records: Records
    program: str

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; False when it goes on elsewhere, or will."""
        attempt = None
        try:
            attempt = self.records.begin(job_id, by=self.program)
            if attempt is not None:
                self._do(attempt)
            return self.records.settle(job_id, attempt)
        except Interrupted:
            if attempt is not None:
                attempt.event.handed_back()
            return False

    def _do(self, attempt: Attempt) -> None:
        try:
            self._score(attempt, attempt.job())
        except Superseded:
            pass
        except TimeLimitExceeded:
            attempt.fail(TOO_LONG)
        except Interrupted:
            attempt.hand_back()
            raise

    def _score(self, attempt: Attempt, job: Job) -> None:
        _, plan = scoring_of(job)
        match plan:
            case EvaluationPlan():
                _end(attempt, evaluate(attempt, job, plan))
            case PromotionPlan():
                conclude(attempt, job, plan, promote(attempt, job, plan))
            case PredictionPlan():
                # Here, and not with the others: workers that write no files do without Arrow's memory.
                from app.prediction.batch_runner import predict_dataset

                _end(attempt, predict_dataset(attempt, job, by=self.program))


def _end(attempt: Attempt, found: JobResult | Problem) -> None:
    if isinstance(found, Problem):
        attempt.fail(found)
    else:
        attempt.records.retry(lambda tx: JobRepository(tx).conclude(attempt.job_id, attempt.number, found))
