"""The statistics extension of the Open Inference Protocol."""

from collections.abc import Iterable

from fastapi import APIRouter

from app.http.dependencies import Owner, Services, ServicesDependency
from app.http.openapi import inference_problems
from app.http.paths import INFERENCE
from app.http.references import ModelName, VersionName
from app.inference.schemas import InferenceStatisticsOut, ModelStatisticsOut
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import Counted
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from relevance_bayes.records.references import Reference

statistics_router = APIRouter(prefix=f"{INFERENCE}/models", tags=["Open Inference Protocol"])


@statistics_router.get("/stats", summary="Get the statistics of all models", responses=inference_problems(401))
def statistics(owner: Owner, services: ServicesDependency) -> InferenceStatisticsOut:
    """Return statistics of all versions that this process has loaded. For a model named `stats`, use its versions."""
    return _shown(services[ServedVersions].counters.all(owner))


@statistics_router.get("/{name}/stats", summary="Get the statistics of a model", responses=inference_problems(404))
def model_statistics(name: ModelName, owner: Owner, services: ServicesDependency) -> InferenceStatisticsOut:
    """Return statistics of each version by number, or of the one of the alias in `name@alias`."""
    reference = Reference.read(name)
    if reference.version is None:
        return _of(services, services[Catalogue].every_version(owner, reference.model))
    return _of(services, [services[Catalogue].version(owner, reference)])


@statistics_router.get(
    "/{name}/versions/{version}/stats", summary="Get the statistics of a version", responses=inference_problems(404)
)
def version_statistics(
    name: ModelName, version: VersionName, owner: Owner, services: ServicesDependency
) -> InferenceStatisticsOut:
    """Return the requests and rows of this process since it started; each API process counts its own."""
    return _of(services, [services[Catalogue].version(owner, Reference.of(name, version))])


def _of(services: Services, versions: Iterable[Version]) -> InferenceStatisticsOut:
    counters = services[ServedVersions].counters
    return _shown((Reference(one.model, one.number), counters.until_now(one)) for one in versions)


def _shown(counted: Iterable[tuple[Reference, Counted]]) -> InferenceStatisticsOut:
    return InferenceStatisticsOut(model_stats=[ModelStatisticsOut.of(*one) for one in counted])
