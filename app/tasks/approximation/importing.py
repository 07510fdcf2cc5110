"""Import of a sparse approximation that was made elsewhere."""

from dataclasses import replace
from itertools import repeat

from app.registry.records import Learned, NewApproximationVersion
from app.tasks.listing import FunctionLocation, listed_terms
from app.tasks.refusals import refuse
from relevance_bayes.documents.exported import ExportedApproximation
from relevance_bayes.documents.validation import approximation_faults
from relevance_bayes.tables.encoding import column_names
from relevance_bayes.types.lineage import ImportedFrom


def checked(exported: ExportedApproximation, name: str, imported: ImportedFrom) -> NewApproximationVersion:
    """Return the version to record under this name; raises InvalidRequestError for values that are not finite."""
    report, predictor = exported.report, exported.predictor
    refuse(approximation_faults(predictor, report))
    terms = predictor.expansion
    # Without location: the rows of the terms are not part of the file.
    somewhere = repeat(FunctionLocation("gaussian"), terms.size)
    vectors = tuple(listed_terms(terms, column_names(predictor.encoding), somewhere))
    return Learned(replace(report, plan=replace(report.plan, model=name), imported=imported), vectors, predictor)
