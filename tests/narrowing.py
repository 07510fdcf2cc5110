"""Members of a union in tests that know which one it is."""

from typing import TypeVar

from relevance_bayes.tasks.supervised.report import SupervisedReport
from relevance_bayes.tasks.union import VersionReport

T = TypeVar("T")


def of_kind(kind: type[T], value: object) -> T:
    """The value, which is of that kind."""
    assert isinstance(value, kind)
    return value


def of_data(report: VersionReport) -> SupervisedReport:
    """The report of a fit to numbers or classes."""
    return of_kind(SupervisedReport, report)
