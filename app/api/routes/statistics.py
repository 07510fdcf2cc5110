"""Usage statistics of versions: requests, rows, errors and times."""

from fastapi import APIRouter

from app.api.dependencies import Owner, ServicesDependency
from app.api.documentation import problems
from app.api.negotiation import AcceptsJson
from app.api.references import VersionReference
from app.api.schemas.statistics import statistics_record
from app.services.catalogue import Catalogue
from app.services.served_versions import ServedVersions
from relevance_bayes.types.statistics import Statistics

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get(
    "/{name}/versions/{version}/statistics", summary="What a version was asked for", responses=problems(404, 406)
)
def statistics(reference: VersionReference, owner: Owner, services: ServicesDependency) -> Statistics:
    """Requests, rows, errors and times since the process that answers began; each process of the API counts its own."""
    found, counters = services[Catalogue].version(owner, reference), services[ServedVersions].counters
    return statistics_record(found, counters.since, counters.until_now(found))
