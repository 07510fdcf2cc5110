"""The routes of limits: an owner sees its own; the operator sees and sets those of all owners."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import TypeAdapter

from app.accounts.limits import OwnersWithLimits
from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, ServicesDependency
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.paths import LIMITS
from app.identity import BUILT_IN_OWNER
from relevance_bayes.records.accounts import LimitedOwner, OwnerLimitsRequest
from relevance_bayes.records.annotations import MembersOf
from relevance_bayes.records.errors import NotFoundError

OWNER_LIMITS: TypeAdapter[Mapping[str, int | None]] = TypeAdapter(
    Annotated[Mapping[str, int | None], MembersOf(OwnerLimitsRequest)]
)

router = APIRouter(prefix=LIMITS, tags=["Limits"], dependencies=[AcceptsJson])


@router.get("", summary="Get the limits of the caller", responses=problems(406))
def own(owner: Owner, services: ServicesDependency) -> LimitedOwner:
    """Return the limits of the caller's owner, and what it uses."""
    return services[OwnersWithLimits].get(owner)


@router.get("/{owner_name:path}", summary="Get the limits of an owner", responses=problems(404, 406))
def limits(owner_name: str, owner: Owner, services: ServicesDependency) -> LimitedOwner:
    """Return the limits of an owner, and what it uses. Needs the scope `admin` in the project `local`."""
    _require_operator(owner, owner_name)
    return services[OwnersWithLimits].get(owner_name)


@router.put(
    "/{owner_name:path}",
    summary="Set the limits of an owner",
    openapi_extra=json_body("OwnerLimitsIn"),
    responses=problems(400, 404, 406, 413, 415, 422),
)
def put(owner_name: str, body: JsonBody, owner: Owner, services: ServicesDependency) -> LimitedOwner:
    """Set the limits of an owner in place of those set before. Needs the scope `admin` in the project `local`.

    Quotas take effect at once, rates within two seconds.
    """
    _require_operator(owner, owner_name)
    return services[OwnersWithLimits].replace(owner_name, read_strictly(OWNER_LIMITS, body))


@router.delete(
    "/{owner_name:path}", status_code=204, summary="Reset the limits of an owner", responses=problems(404, 406)
)
def delete(owner_name: str, owner: Owner, services: ServicesDependency) -> Response:
    """Remove the limits that are set for an owner: it has those of the settings. Needs the scope `admin` in the project
    `local`.
    """
    _require_operator(owner, owner_name)
    services[OwnersWithLimits].replace(owner_name, {})
    return Response(status_code=204)


def _require_operator(owner: str, name: str) -> None:
    if owner != BUILT_IN_OWNER or not name:
        raise NotFoundError(f"There is no owner {name!r}.")
