"""The routes of the audit; they need the scope `admin`."""

from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from app.audit.records import AuditFilter
from app.audit.service import EXPORTS, Audit
from app.database.keyset import Order, PageRequest
from app.http.authentication import AUDIT
from app.http.dependencies import Owner, ServicesDependency
from app.http.negotiation import AcceptsJson, weight
from app.http.openapi import problems
from relevance_bayes.records.audit import AuditAction, AuditEntry
from relevance_bayes.records.json import Page, Timestamp

router = APIRouter(prefix=AUDIT, tags=["Audit"])

MAX_TEXT_LENGTH = 1_000


class AuditQuery(BaseModel):
    """Filters of entries. Unknown parameters are refused: a misspelt filter would not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: AuditAction | None = Field(None, description="Only entries of this action.")
    actor: str | None = Field(
        None,
        max_length=MAX_TEXT_LENGTH,
        description="Only entries whose actor has this id, as that of a key.",
    )
    resource: str | None = Field(
        None, max_length=MAX_TEXT_LENGTH, description="Only entries of this path, such as `/v1/models/prices`."
    )
    since: Timestamp | None = Field(None, description="Only entries at this time or later.")
    until: Timestamp | None = Field(None, description="Only entries before this time.")

    @property
    def which(self) -> AuditFilter:
        """Return the filter for the service."""
        return AuditFilter(self.action, self.actor, self.resource, self.since, self.until)


class AuditPageQuery(AuditQuery):
    """The query of a page of entries."""

    limit: int = Field(100, ge=1, le=1000, description="The maximum number of items.")
    after: str | None = Field(None, description="`after` of the previous page; without it, the first page.")
    order: Order = Field("newest", description="The order of the items.")


@router.get("", summary="List the audit", dependencies=[AcceptsJson], responses=problems(406, 422))
def entries(owner: Owner, services: ServicesDependency, query: Annotated[AuditPageQuery, Query()]) -> Page[AuditEntry]:
    """List changes of the owner's resources: who made them, when, from where, with which result."""
    part = PageRequest(query.limit, query.after, query.order)
    page = services[Audit].page(owner, part, query.which)
    return Page.of(page.items, page.next)


async def _media_type(request: Request) -> str:
    accept = request.headers.getlist("accept")
    given = ",".join(accept) if accept else None
    best = max(EXPORTS, key=lambda one: weight(given, one))
    if not weight(given, best):
        raise HTTPException(406, f"Expected one of {', '.join(EXPORTS)} in the Accept header, got neither.")
    return best


_CONTENTS = {one: {"schema": {"type": "string"}} for one in EXPORTS}


@router.get(
    "/export",
    summary="Export the audit",
    response_class=StreamingResponse,
    responses={200: {"description": "All entries, oldest first.", "content": _CONTENTS}, **problems(406, 422)},
)
def export(
    owner: Owner,
    services: ServicesDependency,
    query: Annotated[AuditQuery, Query()],
    media_type: Annotated[str, Depends(_media_type)],
) -> StreamingResponse:
    """Export all entries that the filters select, oldest first, as NDJSON or CSV.

    Each line of NDJSON is the canonical form of an entry, which `relevance audit verify --file` verifies.
    """
    batches = services[Audit].batches(owner, query.which)
    first = next(batches, ())  # read before the response begins, so that it is 503 where the database is unavailable
    content = EXPORTS[media_type](chain((first,), batches))
    return StreamingResponse(content, media_type=media_type, headers={"Cache-Control": "no-store"})
