"""The routes of promotions: an alias moves if a version is better than the one to which it points."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.evaluation.jobs import PROMOTION_OPTIONS, promotion_record
from app.evaluation.service import EvaluationService
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed
from app.http.lists import Wait
from app.http.negotiation import AcceptsJson, media_type_of
from app.http.openapi import json_body, problems
from app.http.references import AliasName, ModelName, refuse_no_alias
from app.jobs.records import Job
from app.jobs.schemas import ScoringsQuery, queued_response
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from relevance_bayes.records.evaluations import Promotion, PromotionRequest
from relevance_bayes.records.json import Page

TAG = "Promotions"
router = APIRouter(prefix="/v1/promotions", tags=[TAG], dependencies=[AcceptsJson])

QUEUED = partial(queued_response, promotion_record)
of_aliases = APIRouter(prefix="/v1/models", tags=[TAG], dependencies=[AcceptsJson])


@of_aliases.post(
    "/{name}/aliases/{alias}/promotions",
    status_code=202,
    summary="Move an alias to a version if it is better",
    response_model=Promotion,
    openapi_extra=json_body("PromotionOptions"),
    responses=problems(400, 406, 404, 409, 413, 415, 422, 429),
)
def submit(
    name: ModelName,
    alias: AliasName,
    request: Request,
    body: JsonBody,
    owner: Owner,
    services: ServicesDependency,
    key: Key,
) -> Response:
    """Queue a comparison of a version, the challenger, with the one to which the alias points, on the same rows.

    At the end of the job the alias moves, if the challenger is better by more than the margin and the alias still
    points to the version compared with; else the job fails with the problem `alias-moved`. An alias that does not exist
    is created, with the challenger's metrics. The alias's history has the job and the metrics.
    """
    refuse_no_alias(alias)

    def create(keyed: Keyed[Job] | None) -> Job:
        options = read_strictly(PROMOTION_OPTIONS, body)
        return services[EvaluationService].submit(
            owner, PromotionRequest(**vars(options), model=name, alias=alias), keyed=keyed
        )

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    return once(services[Idempotency], named(request, owner, key, content_type, body), QUEUED, create)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    summary="Retry a promotion",
    response_model=Promotion,
    responses=problems(404, 406, 409, 422, 429),
)
def retry(request: Request, job_id: str, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue a new promotion with the same request once the job has ended; the alias is resolved again."""
    first = identifier(job_id, "promotion")

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[EvaluationService].retry(owner, first, "promotion", keyed=keyed)

    return once(services[Idempotency], named(request, owner, key), QUEUED, create)


@router.get("", summary="List promotions", responses=problems(422, 406))
def promotions(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[ScoringsQuery, Query()],
) -> Page[Promotion]:
    """List promotions by age, including those that moved no alias."""
    page = services[JobService].page(owner, query.part, which=query.which("promotion"))
    return Page.of([promotion_record(job, diagnostics=False) for job in page.items], page.next)


@router.get("/{job_id}", summary="Get a promotion, or wait for its end", responses=problems(404, 406, 422))
async def promotion(
    job_id: str, owner: Owner, job_waiter: JobWaiterDependency, request: LastingRequestDependency, wait: Wait = 0
) -> Promotion:
    """Get a promotion with its result; `wait` waits for its end, at most so many seconds."""
    return promotion_record(await job_waiter.ended(request, owner, "promotion", identifier(job_id, "promotion"), wait))


@router.post("/{job_id}/cancel", status_code=202, summary="Cancel a promotion", responses=problems(404, 406, 409))
def cancel(job_id: str, owner: Owner, services: ServicesDependency) -> Promotion:
    """Cancel a promotion: a queued one ends at once, a running one within about a second; the alias stays."""
    return promotion_record(services[JobService].cancel(owner, identifier(job_id, "promotion"), kind="promotion"))
