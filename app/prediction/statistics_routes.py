"""Usage statistics of versions: requests, rows, errors and times."""

from fastapi import APIRouter

from app.http.dependencies import Owner, ServicesDependency
from app.http.negotiation import AcceptsJson
from app.http.openapi import problems
from app.http.references import VersionReference
from app.prediction.schemas.versions import statistics_record
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from relevance_bayes.types.statistics import Statistics

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get(
    "/{name}/versions/{version}/statistics",
    summary="Get the usage statistics of a version",
    responses=problems(404, 406),
)
def statistics(reference: VersionReference, owner: Owner, services: ServicesDependency) -> Statistics:
    """Requests, rows, errors and times since the process that answers began; each process of the API counts its own."""
    found, counters = services[Catalogue].version(owner, reference), services[ServedVersions].counters
    return statistics_record(found, counters.since, counters.until_now(found))
