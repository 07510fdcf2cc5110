"""One start of a job that scores: claim it, do it here, record how that ended."""

from dataclasses import dataclass
from uuid import UUID

from app.domain.jobs import Job, scoring_of
from app.domain.requests import EvaluationPlan, PromotionPlan
from app.worker.attempts import Attempt, NoLongerOurs, Records
from app.worker.insisting import HandedBack
from app.worker.scoring.evaluate import evaluate
from app.worker.scoring.promote import conclude, promote


@dataclass(frozen=True)
class Scorer:
    """Runs jobs that ask versions, each in the thread that calls; a lost database is waited for."""

    records: Records

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; False when it goes on elsewhere, or will."""
        try:
            attempt = self.records.begin(job_id)
            if attempt is not None:
                self._do(attempt)
            return self.records.settle(job_id)
        except HandedBack:
            return False

    def _do(self, attempt: Attempt) -> None:
        try:
            _score(attempt, attempt.job())
        except NoLongerOurs:
            pass
        except HandedBack:
            attempt.hand_back()
            raise


def _score(attempt: Attempt, job: Job) -> None:
    _, plan = scoring_of(job)
    match plan:
        case EvaluationPlan():
            found = evaluate(attempt, job, plan)
            attempt.records.insist(lambda uow: uow.jobs.conclude(attempt.job_id, attempt.number, found))
        case PromotionPlan():
            conclude(attempt, job, plan, promote(attempt, job, plan))
