"""Models and their versions: what was learned."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from app.api.dependencies import Owner, PartsDependency
from app.api.documentation import problems
from app.api.negotiation import AcceptsJson
from app.api.references import VersionReference
from app.api.schemas.models import ModelOut, RelevanceVectorOut, VersionOut, version_out
from app.api.schemas.pages import After, Limit, PageOut

router = APIRouter(prefix="/v1/models", tags=["Models"], dependencies=[AcceptsJson])


@router.get("", summary="List models", responses=problems(422, 406))
def models(owner: Owner, parts: PartsDependency, limit: Limit = 20, after: After = None) -> PageOut[ModelOut]:
    """Models, newest first."""
    page = parts.catalogue.models(owner, limit=limit, after=after)
    return PageOut.of([ModelOut.of(model) for model in page.items], page.next)


@router.get("/{name}", summary="Look at a model", responses=problems(404, 406))
def model(name: str, owner: Owner, parts: PartsDependency) -> ModelOut:
    """A model: what its versions have in common."""
    return ModelOut.of(parts.catalogue.model(owner, name))


@router.delete("/{name}", status_code=204, summary="Delete a model", responses=problems(404, 406, 409))
def delete_model(name: str, owner: Owner, parts: PartsDependency) -> None:
    """Delete a model with all its versions, unless an unfinished training is to make another."""
    parts.catalogue.delete_model(owner, name)


@router.get("/{name}/versions", summary="List versions", responses=problems(404, 406, 422))
def versions(
    name: str, owner: Owner, parts: PartsDependency, limit: Limit = 20, after: After = None
) -> PageOut[VersionOut]:
    """A model's versions, newest first."""
    page = parts.catalogue.versions(owner, name, limit=limit, after=after)
    return PageOut.of([version_out(version) for version in page.items], page.next)


@router.get("/{name}/versions/{version}", summary="Look at a version", responses=problems(404, 406))
def version(reference: VersionReference, owner: Owner, parts: PartsDependency) -> VersionOut:
    """What one training learned."""
    return version_out(parts.catalogue.version(owner, reference))


@router.delete(
    "/{name}/versions/{version}", status_code=204, summary="Delete a version", responses=problems(404, 406, 409)
)
def delete_version(reference: VersionReference, owner: Owner, parts: PartsDependency) -> None:
    """Delete a version to which no alias points; its number is never used again."""
    parts.catalogue.delete_version(owner, reference)


@router.get(
    "/{name}/versions/{version}/relevance-vectors",
    summary="The functions a version keeps",
    responses=problems(404, 406, 422),
)
def relevance_vectors(
    reference: VersionReference,
    owner: Owner,
    parts: PartsDependency,
    limit: Limit = 100,
    after: After = None,
    sort: Annotated[
        Literal["number", "weight"], Query(description="By number, or by the weight's size, greatest first.")
    ] = "number",
) -> PageOut[RelevanceVectorOut]:
    """The rows that the version stands on, with their weights."""
    page = parts.catalogue.vectors(owner, reference, limit=limit, after=after, sort=sort)
    return PageOut.of([RelevanceVectorOut.of(vector) for vector in page.items], page.next)
