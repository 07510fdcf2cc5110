"""The runner of jobs that use versions: one attempt, from the claim to the record of its end."""

from dataclasses import dataclass
from uuid import UUID

from app.evaluation.evaluate import evaluate
from app.evaluation.jobs import EVALUATION, EVALUATION_RESULT, PROMOTION
from app.evaluation.promote import conclude, promote
from app.jobs.records import Job, JobFailure, wrong_kind
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import TOO_LONG, Interrupted, JobAttempt, Records, Superseded, TimeLimitExceeded
from app.prediction.batch_jobs import RESULT, resumption_of_result


@dataclass(frozen=True)
class Scorer:
    """Runs jobs that use versions, each in the calling thread; a lost database is waited for.

    `program` identifies the program: a file that another program has begun is written anew.
    """

    records: Records
    program: str

    def __call__(self, job_id: UUID) -> bool:
        """Run a job to its end; return False where another worker runs it now or later."""
        attempt = None
        try:
            attempt = self.records.begin(job_id, by=self.program, resumption=resumption_of_result)
            if attempt is not None:
                self._do(attempt)
            return self.records.settle(job_id, attempt)
        except Interrupted:
            if attempt is not None:
                attempt.event.interrupted()
            return False

    def _do(self, attempt: JobAttempt) -> None:
        try:
            self._score(attempt, attempt.job)
        except Superseded:
            pass
        except TimeLimitExceeded:
            attempt.fail(TOO_LONG)
        except Interrupted:
            attempt.hand_back()
            raise

    def _score(self, attempt: JobAttempt, job: Job) -> None:
        match job.kind:
            case "evaluation":
                _, evaluated = EVALUATION.read(job)
                _end(attempt, EVALUATION_RESULT.write(evaluate(attempt, job, evaluated)))
            case "promotion":
                requested, promoted = PROMOTION.read(job)
                conclude(attempt, job, promoted, promote(attempt, job, requested, promoted))
            case "prediction":
                # Imported here: a worker that writes no files does not load Arrow.
                from app.prediction.batch_runner import predict_dataset

                found = predict_dataset(attempt, job, by=self.program)
                _end(attempt, found if isinstance(found, JobFailure) else RESULT.write(found))
            case "training":
                raise wrong_kind(job, "a job that uses versions")


def _end(attempt: JobAttempt, found: str | JobFailure) -> None:
    if isinstance(found, JobFailure):
        attempt.fail(found)
    else:
        attempt.records.retry(lambda tx: JobRepository(tx).conclude(attempt.job_id, attempt.number, found))
