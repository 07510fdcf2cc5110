"""Import of components that were trained elsewhere."""

from dataclasses import replace
from itertools import repeat

from app.registry.records import Learned, NewComponentsVersion
from app.tasks.listing import FunctionLocation, listed_images
from app.tasks.refusals import refuse
from relevance_bayes.core.components import Components
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.documents.exported import ExportedComponents
from relevance_bayes.documents.validation import components_faults
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.functions import RelevanceVector
from relevance_bayes.types.lineage import ImportedFrom


def checked(exported: ExportedComponents, name: str, imported: ImportedFrom) -> NewComponentsVersion:
    """Return the version to record under this name; raises InvalidRequestError for components that can't predict."""
    report, predictor = exported.report, exported.predictor
    refuse(components_faults(predictor, report))
    vectors = _vectors(predictor.components)
    plan = replace(report.plan, model=name)
    # Computed here: the last digits may differ on another machine.
    variances = tuple(predictor.components.variances.tolist())
    return Learned(replace(report, plan=plan, variances=variances, imported=imported), vectors, predictor)


def _vectors(found: Components) -> tuple[RelevanceVector, ...]:
    """Return the functions without location, since the file has no rows. Raises InvalidRequestError."""
    try:
        return tuple(listed_images(found, repeat(FunctionLocation(found.kernel.type), len(found.rows))))
    except NotPositiveDefiniteError as error:
        detail = "The covariance of the images is not positive definite."
        raise InvalidRequestError(detail, [Fault(detail, "/model")]) from error
