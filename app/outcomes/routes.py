"""The routes of outcomes, of what they show over time, and of alarms."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency
from app.http.disconnection import run_for_client
from app.http.lists import ListQuery
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import ModelName
from app.outcomes.service import OutcomeService
from relevance_bayes.records.json import Page
from relevance_bayes.records.models import MAX_NUMBER
from relevance_bayes.records.outcomes import BucketWidth, ModelAlarm, OutcomeBucket, OutcomesIn, OutcomesReceived

router = APIRouter(prefix="/v1/models/{name}", tags=["Outcomes"], dependencies=[AcceptsJson])

OUTCOMES_IN: TypeAdapter[OutcomesIn] = TypeAdapter(OutcomesIn)


class BucketsQuery(BaseModel):
    """The query of what outcomes show over time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only this version.")
    bucket: BucketWidth = Field("day", description="The time that each item is about, in UTC.")
    limit: int = Field(100, ge=1, le=1000, description="The maximum number of items.")
    after: str | None = Field(None, description="`after` of the previous page; without it, the first page.")


@router.post(
    "/outcomes",
    summary="Record outcomes",
    openapi_extra=json_body("OutcomesIn"),
    responses=problems(400, 404, 406, 413, 415, 422, 429),
)
async def receive(
    name: ModelName, body: JsonBody, owner: Owner, services: ServicesDependency, request: Request
) -> OutcomesReceived:
    """Record what happened, by the row ids of predictions, at most 10,000 outcomes a request.

    An outcome belongs to every version that predicted for its row. The same outcome again changes nothing. Where the
    outcomes depart from the predictions by more than chance, an alarm is raised.
    """
    values = read_strictly(OUTCOMES_IN, body).by_row_id()
    return await run_for_client(request.receive, services[OutcomeService].receive, owner, name, values)


@router.get("/outcomes", summary="Compare predictions with outcomes over time", responses=problems(404, 406, 422))
def buckets(
    name: ModelName, owner: Owner, services: ServicesDependency, query: Annotated[BucketsQuery, Query()]
) -> Page[OutcomeBucket]:
    """List coverage and log score, of classes accuracy and log score, by version and by the hour or day in which the
    predictions were made, newest first."""
    page = services[OutcomeService].buckets(
        owner, name, query.bucket, version=query.version, limit=query.limit, after=query.after
    )
    return Page.of(page.items, page.next)


@router.get("/alarms", summary="List a model's alarms", responses=problems(404, 406, 422))
def alarms(
    name: ModelName, owner: Owner, services: ServicesDependency, query: Annotated[ListQuery, Query()]
) -> Page[ModelAlarm]:
    """List the alarms of a model's versions by age, also those that were cleared."""
    page = services[OutcomeService].alarms(owner, name, query.part)
    return Page.of(page.items, page.next)
