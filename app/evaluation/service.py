"""Evaluations and promotions: from an owner's request to a queued job."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from app.database.transaction import Clock, OpenTransaction, Transaction
from app.datasets.repository import DatasetRepository
from app.evaluation.jobs import EVALUATION, PROMOTION, plan_evaluation, plan_promotion
from app.http.idempotency_records import Keyed
from app.jobs.records import Job
from app.jobs.service import ended
from app.registry.records import Version
from app.registry.repository import ModelRepository
from app.registry.submission import enqueue
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.evaluations import EvaluationRequest, PromotionRequest
from relevance_bayes.records.jobs import JobKind

JudgingRequest: TypeAlias = EvaluationRequest | PromotionRequest
"""The requests for jobs that compare predictions with the target."""


@dataclass(frozen=True)
class EvaluationService:
    """Jobs that compare versions' predictions with the target of a dataset."""

    transaction: OpenTransaction
    clock: Clock

    def submit(
        self,
        owner: str,
        request: JudgingRequest,
        *,
        retry_of: UUID | None = None,
        keyed: Keyed[Job] | None = None,
    ) -> Job:
        """Plan, record and queue a job, and store the response to a `keyed` request, in one transaction.

        Raises NotFoundError (dataset, model, version), InvalidRequestError (the dataset lacks columns),
        TooManyJobsError, KeyInUseError.
        """
        job = self._planned(owner, request, retry_of=retry_of)
        with self.transaction() as tx:
            return enqueue(tx, job, keyed=keyed)

    def retry(self, owner: str, job_id: UUID, kind: JobKind, *, keyed: Keyed[Job] | None = None) -> Job:
        """Return a new job with the same request; aliases are resolved again. Raises ConflictError before it has ended.

        Raises NotFoundError (job), and the errors of `submit`.
        """
        with self.transaction() as tx:
            job = ended(tx, owner, job_id, kind)
        request: JudgingRequest = (PROMOTION if kind == "promotion" else EVALUATION).read(job)[0]
        return self.submit(owner, request, retry_of=job.id, keyed=keyed)

    def _planned(self, owner: str, request: JudgingRequest, *, retry_of: UUID | None) -> Job:
        with self.transaction() as tx:
            dataset = DatasetRepository(tx).get(owner, request.dataset_id)
            version = ModelRepository(tx).version(owner, request.model, request.version)
            holder = _holder(tx, owner, request) if isinstance(request, PromotionRequest) else None
        at = self.clock()
        match request:
            case EvaluationRequest():
                plan = plan_evaluation(request, version, dataset)
                return EVALUATION.queued(owner, request, plan, at=at, retry_of=retry_of)
            case PromotionRequest():
                promotion = plan_promotion(request, version, holder, dataset)
                return PROMOTION.queued(owner, request, promotion, at=at, retry_of=retry_of)


def _holder(tx: Transaction, owner: str, request: PromotionRequest) -> Version | None:
    """Return the version to which the alias points, None where there is no such alias yet."""
    with suppress(NotFoundError):
        return ModelRepository(tx).version(owner, request.model, request.alias)
    return None
