"""Paths of versions in the API."""

from urllib.parse import quote

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.references import Reference


def reference(name: str, version: int | str | None = None) -> Reference:
    """Return the version that a name, which may be `model@alias`, and a number or alias refer to.

    Raises ClientError for an invalid or contradictory one.
    """
    try:
        read = Reference.read(name)
        if version is None:
            return read
        if read.version is None:
            return Reference.of(read.model, str(version))
    except NotFoundError as error:
        raise ClientError(Problem(title="Not found", detail=error.detail, status=404)) from error
    raise ClientError(Problem(title="Two versions", detail=f"Expected one version, got {name} and {version}."))


def version_path(name: str, version: int | str | None) -> str:
    """Return the path of a version; of the newest that of its model."""
    model, selector = reference(name, version)
    return f"/v1/models/{part(model)}" + ("" if selector is None else f"/versions/{part(str(selector))}")


def part(text: str) -> str:
    """Return one segment of a path, with slashes escaped."""
    return quote(text, safe="")
