"""Where a version was before it came here."""

from relevance_bayes.documents.models import ImageReport, VersionReport
from relevance_bayes.types.lineage import ImportedFrom


def imported_record(report: VersionReport) -> ImportedFrom | None:
    """The version that a report names; None for what was trained here."""
    return None if isinstance(report, ImageReport) else report.imported
