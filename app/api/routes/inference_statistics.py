"""The statistics extension of the Open Inference Protocol."""

from collections.abc import Iterable

from fastapi import APIRouter

from app.api.dependencies import Owner, Parts, PartsDependency
from app.api.documentation import inference_problems
from app.api.paths import INFERENCE
from app.api.references import ModelName, VersionName
from app.api.schemas.inference import InferenceStatisticsOut, ModelStatisticsOut
from app.domain.models import Version
from app.services.usage_counts import Counted
from relevance_bayes.types.references import Reference

router = APIRouter(prefix=f"{INFERENCE}/models", tags=["Open Inference Protocol"])


@router.get("/stats", summary="What all models were asked for", responses=inference_problems(401))
def statistics(owner: Owner, parts: PartsDependency) -> InferenceStatisticsOut:
    """All versions that came into this process's memory. Of a model called `stats`, ask by its versions."""
    return _shown(parts.prediction.counters.all(owner))


@router.get("/{name}/stats", summary="What a model was asked for", responses=inference_problems(404))
def model_statistics(name: ModelName, owner: Owner, parts: PartsDependency) -> InferenceStatisticsOut:
    """Each of its versions by its number, or the one of the alias in `name@alias`."""
    reference = Reference.read(name)
    if reference.version is None:
        return _of(parts, parts.catalogue.every_version(owner, reference.model))
    return _of(parts, [parts.catalogue.version(owner, reference)])


@router.get(
    "/{name}/versions/{version}/stats", summary="What a version was asked for", responses=inference_problems(404)
)
def version_statistics(
    name: ModelName, version: VersionName, owner: Owner, parts: PartsDependency
) -> InferenceStatisticsOut:
    """Requests and rows since the process that answers began; each process of the API counts its own."""
    return _of(parts, [parts.catalogue.version(owner, Reference.of(name, version))])


def _of(parts: Parts, versions: Iterable[Version]) -> InferenceStatisticsOut:
    counters = parts.prediction.counters
    return _shown((Reference(one.model, one.number), counters.until_now(one)) for one in versions)


def _shown(counted: Iterable[tuple[Reference, Counted]]) -> InferenceStatisticsOut:
    return InferenceStatisticsOut(model_stats=[ModelStatisticsOut.of(*one) for one in counted])
