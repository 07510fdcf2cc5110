"""Jobs and versions of any task, and of the one that a caller expects."""

from typing import TypeVar

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.responses import ImportedVersion, Job, TrainingJob, Version, VersionBase
from relevance_bayes.types.records import Converter

A = TypeVar("A", Job, VersionBase)

ANY_JOB: Converter[Job] = Converter(TrainingJob)
ANY_VERSION: Converter[VersionBase] = Converter(Version)
IMPORTED_VERSION: Converter[ImportedVersion] = Converter(ImportedVersion)


def of_kind(kind: type[A], response: A) -> A:
    """Return the response as the expected class; raises ClientError for another one."""
    if not isinstance(response, kind):
        detail = f"Expected a {kind.__name__}, got a {type(response).__name__}; pass `of`."
        raise ClientError(Problem(title="Another task", detail=detail))
    return response
