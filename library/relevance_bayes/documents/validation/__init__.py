"""Validation of imported predictors and reports: consistency of their parts."""

from relevance_bayes.documents.validation.specs import spec_faults
from relevance_bayes.documents.validation.supervised import supervised_faults, supervised_report_faults
from relevance_bayes.documents.validation.tasks import approximation_faults, components_faults

__all__ = ["approximation_faults", "components_faults", "spec_faults", "supervised_faults", "supervised_report_faults"]
