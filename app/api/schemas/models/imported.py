"""Where a version was before it came here."""

from typing import Self

from pydantic import Field

from app.api.schemas.jobs import FromDomain
from relevance_bayes.documents.models import ImageReport, VersionReport


class ImportedFromOut(FromDomain):
    """The version that was imported, by its names where it was trained."""

    model: str
    version: int
    digest: str = Field(description="SHA-256 of the file that came, in hexadecimal digits: its `ETag` where it was.")

    @classmethod
    def of(cls, report: VersionReport) -> Self | None:
        """None for what was trained here."""
        found = None if isinstance(report, ImageReport) else report.imported
        return None if found is None else cls.model_validate(found)
