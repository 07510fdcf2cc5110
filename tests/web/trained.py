"""Versions with the histograms of their data, which reports draw predictions from."""

from dataclasses import replace

from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.prediction.drifting import with_baseline, with_histograms


def trained(made: NewSupervisedVersion, on: Block | None = None) -> NewSupervisedVersion:
    """The version with histograms of rows, by default of a thousand."""
    report = with_histograms(made.report, with_baseline(made, on).version.report.baseline)
    assert isinstance(report, type(made.report))
    return replace(made, report=report)
