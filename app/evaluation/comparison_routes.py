"""The route of comparisons of two versions."""

from fastapi import APIRouter, Request, Response

from app.evaluation.comparison_codec import comparison_json
from app.evaluation.schemas.comparisons import ClassesComparisonOut, NumbersComparisonOut
from app.http.dependencies import JsonBody, Owner, ServicesDependency, limits_of
from app.http.disconnection import run_for_client
from app.http.negotiation import AcceptsJson
from app.http.openapi import json_body, problems
from app.http.references import VersionReference
from app.prediction.served_versions import ServedVersions

router = APIRouter(prefix="/v1/models", tags=["Predictions"], dependencies=[AcceptsJson])


@router.post(
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
