"""The API's form of the lineage of a version."""

from pydantic import TypeAdapter

from app.registry.lineage import Lineage
from app.registry.schemas.shared import imported_record
from relevance_bayes.plans.requests import TrainingRequest
from relevance_bayes.types import lineage as records
from relevance_bayes.types.lineage import DatasetOrigin, Parent

_REQUEST: TypeAdapter[TrainingRequest] = TypeAdapter(TrainingRequest)


def lineage_record(lineage: Lineage) -> records.Lineage:
    """Return the API's form of a lineage."""
    version, report = lineage.version, lineage.version.report
    return records.Lineage(
        model=version.model,
        version=version.number,
        created_at=version.created_at,
        dataset=DatasetOrigin(
            id=str(report.dataset_id),
            digest=report.dataset_digest,
            name=None if lineage.dataset is None else lineage.dataset.name,
            exists=lineage.dataset is not None,
        ),
        job_id=None if version.job_id is None else str(version.job_id),
        request=None if lineage.request is None else _REQUEST.dump_python(lineage.request, mode="json"),
        imported=imported_record(report),
        parent=None if version.parent is None else Parent(version=version.parent, exists=lineage.is_parent_kept),
        software_version=report.software_version,
    )
