"""Routes of evaluations and of comparisons of two versions."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.evaluation.jobs import EVALUATION, evaluation_record
from app.evaluation.responses import ClassesComparisonOut, NumbersComparisonOut, comparison_json
from app.evaluation.service import EvaluationService
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency, identifier, limits_of
from app.http.disconnection import run_for_client
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed
from app.http.lists import Wait
from app.http.negotiation import AcceptsJson, media_type_of
from app.http.openapi import json_body, problems
from app.http.references import VersionReference
from app.jobs.records import Job, JobFilter
from app.jobs.schemas import ScoringsQuery, StateQuery, queued_response
from app.jobs.service import JobService
from app.jobs.waiter import JobWaiterDependency, LastingRequestDependency
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from relevance_bayes.records.evaluations import Evaluation
from relevance_bayes.records.json import Page

TAG = "Evaluations"
router = APIRouter(prefix="/v1/evaluations", tags=[TAG], dependencies=[AcceptsJson])

QUEUED = partial(queued_response, evaluation_record)
of_versions = APIRouter(prefix="/v1/models", tags=[TAG], dependencies=[AcceptsJson])


@router.post(
    "",
    status_code=202,
    summary="Create an evaluation",
    response_model=Evaluation,
    openapi_extra=json_body("EvaluationRequest"),
    responses=problems(400, 406, 404, 409, 413, 415, 422, 429),
)
def submit(request: Request, body: JsonBody, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue an evaluation: a version predicts all rows of a dataset, and its metrics on the target are computed."""

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[EvaluationService].submit(owner, read_strictly(EVALUATION.request.adapter, body), keyed=keyed)

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    return once(services[Idempotency], named(request, owner, key, content_type, body), QUEUED, create)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    summary="Retry an evaluation",
    response_model=Evaluation,
    responses=problems(404, 406, 409, 422, 429),
)
def retry(request: Request, job_id: str, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Queue a new evaluation with the same request once the job has ended; an alias is resolved again."""
    first = identifier(job_id, "evaluation")

    def create(keyed: Keyed[Job] | None) -> Job:
        return services[EvaluationService].retry(owner, first, "evaluation", keyed=keyed)

    return once(services[Idempotency], named(request, owner, key), QUEUED, create)


@router.get("", summary="List evaluations", responses=problems(422, 406))
def evaluations(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[ScoringsQuery, Query()],
) -> Page[Evaluation]:
    """List evaluations with their metrics, by age."""
    page = services[JobService].page(owner, query.part, which=query.which("evaluation"))
    return Page.of([evaluation_record(job, diagnostics=False) for job in page.items], page.next)


@of_versions.get(
    "/{name}/versions/{version}/evaluations",
    summary="List the evaluations of a version",
    responses=problems(404, 406, 422),
)
def of_version(
    reference: VersionReference,
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[StateQuery, Query()],
) -> Page[Evaluation]:
    """List the evaluations of one version with their metrics, by age."""
    number = services[Catalogue].version(owner, reference).number
    which = JobFilter("evaluation", query.state, reference.model, number)
    page = services[JobService].page(owner, query.part, which=which)
    return Page.of([evaluation_record(job, diagnostics=False) for job in page.items], page.next)


@router.get("/{job_id}", summary="Get an evaluation, or wait for its end", responses=problems(404, 406, 422))
async def evaluation(
    job_id: str, owner: Owner, job_waiter: JobWaiterDependency, request: LastingRequestDependency, wait: Wait = 0
) -> Evaluation:
    """Get an evaluation with its result; `wait` waits for its end, at most so many seconds."""
    return evaluation_record(
        await job_waiter.ended(request, owner, "evaluation", identifier(job_id, "evaluation"), wait)
    )


@router.post("/{job_id}/cancel", status_code=202, summary="Cancel an evaluation", responses=problems(404, 406, 409))
def cancel(job_id: str, owner: Owner, services: ServicesDependency) -> Evaluation:
    """Cancel an evaluation: a queued one ends at once, a running one within about a second."""
    return evaluation_record(services[JobService].cancel(owner, identifier(job_id, "evaluation"), kind="evaluation"))


comparisons = APIRouter(prefix="/v1/models", tags=["Predictions"], dependencies=[AcceptsJson])


@comparisons.post(
    "/{name}/versions/{version}/compare",
    summary="Compare two versions on rows",
    response_model=NumbersComparisonOut | ClassesComparisonOut,
    openapi_extra=json_body("CompareIn"),
    responses=problems(400, 404, 406, 409, 413, 415, 422),
)
async def compare(
    reference: VersionReference, body: JsonBody, owner: Owner, services: ServicesDependency, request: Request
) -> Response:
    """Compare the predictions of this version and another one, of any model with the same inputs and target.

    Both versions predict each row of the table, which has the form of that of a prediction.
    """
    max_rows = limits_of(request).max_prediction_rows
    content = await run_for_client(
        request.receive, comparison_json, services[ServedVersions], owner, reference, body, max_rows
    )
    return Response(content, media_type="application/json")
