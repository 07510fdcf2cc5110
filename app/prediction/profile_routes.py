"""The route of profiles: from the request's body to the response."""

from dataclasses import fields

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from app.errors import TooLargeError
from app.formats.cells import refuse
from app.formats.json_body import check_containers
from app.formats.json_table import read_json, typed_block
from app.http.bodies import MAX_MEMBERS, checked
from app.http.dependencies import JsonBody, Owner, ServicesDependency
from app.http.disconnection import run_for_client
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.rate_limits import check_rows
from app.http.references import VersionReference
from app.http.rendering import to_json
from app.prediction.json_codec import max_containers
from app.prediction.predict import ServedVersion
from app.prediction.profile import profile, require_profile
from app.prediction.served_versions import ServedVersions
from relevance_bayes.records.profiles import MAX_ROWS, Profile, ProfileIn, ProfileOptionsIn
from relevance_bayes.records.references import Reference
from relevance_bayes.tables.columns import Block, block_rows

router = APIRouter(prefix="/v1/models", tags=["Predictions"], dependencies=[AcceptsJson])

PROFILE_IN: TypeAdapter[ProfileIn] = TypeAdapter(ProfileIn)
"""The three forms of a table, only for OpenAPI."""
_OPTIONS: TypeAdapter[ProfileOptionsIn] = TypeAdapter(ProfileOptionsIn)
_OPTION_NAMES = frozenset(one.name for one in fields(ProfileOptionsIn))


@router.post(
    "/{name}/versions/{version}/profile",
    summary="Get the effect of inputs on predictions",
    response_model=Profile,
    openapi_extra=json_body("ProfileIn"),
    responses=problems(400, 404, 406, 413, 415, 422),
)
async def profile_of_inputs(
    reference: VersionReference, body: JsonBody, owner: Owner, services: ServicesDependency, request: Request
) -> Response:
    """Average the predictions over rows that all have the same value of an input, for each of its values: partial
    dependence, with the uncertainty of the average.

    The rows are those of the table, at most 500, in the forms of predictions: send a sample of the rows that the model
    is for. Of two inputs the average is for each pair of values. Points times rows are at most 25,000, and count as so
    many predicted rows; a row with missing values counts as 64.
    """
    content = await run_for_client(request.receive, _json, services[ServedVersions], owner, reference, body)
    return Response(content, media_type="application/json")


def _json(versions: ServedVersions, owner: str, reference: Reference, body: bytes) -> bytes:
    """Return the response; raises NotFoundError, RateLimitError, errors of the body."""
    check_rows()
    served = versions.version(owner, *reference)
    options, block = _read(served, body)
    return to_json(profile(served, options, block))


def _read(served: ServedVersion, body: bytes) -> tuple[ProfileOptionsIn, Block]:
    """Return the options and the table."""
    limit = max_containers(MAX_ROWS)
    check_containers(body, limit)
    raw = read_json(
        body, max_columns=max(MAX_MEMBERS, 2 * len(served.columns)), others=_OPTION_NAMES, max_containers=limit
    )
    options = checked(_OPTIONS, raw.others)
    require_profile(served, options)
    block, faults = typed_block(raw, served.columns, not_read=served.not_read)
    if (rows := block_rows(block)) > MAX_ROWS:
        raise TooLargeError(f"Expected at most {MAX_ROWS} rows, got {rows:,}: send a sample of them.")
    refuse(faults)
    return options, block
