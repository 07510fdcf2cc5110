"""Validation of the members of all reports: texts, times, widths by input."""

import re
from collections.abc import Iterator, Sequence

from relevance_bayes.documents.models import ApproximationReport, ComponentsReport, SupervisedReport
from relevance_bayes.documents.validation.columns import column_name_faults
from relevance_bayes.documents.validation.figures import COUNT, NOT_NEGATIVE, POSITIVE_COUNT, Interval, figure_faults
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.encoding.table import MAX_SCALED

WIDTH = Interval(1.0 / MAX_SCALED, MAX_SCALED)
WHERE = "/report"

DIGEST = re.compile(r"[0-9a-f]{64}")
SOFTWARE_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,100}")


def common_faults(report: SupervisedReport | ApproximationReport | ComponentsReport) -> Iterator[Fault]:
    """Yield faults of the members of every report."""
    yield from figure_faults(
        [
            (f"{WHERE}/rows", report.rows, POSITIVE_COUNT),
            (f"{WHERE}/seconds", report.seconds, NOT_NEGATIVE),
        ]
    )
    if report.imported is not None:
        yield from figure_faults([(f"{WHERE}/imported/version", report.imported.version, Interval(1, 2**31 - 1))])
    if not DIGEST.fullmatch(report.dataset_digest):
        yield Fault("Expected a SHA-256 of 64 hexadecimal digits.", f"{WHERE}/dataset_digest")
    if not SOFTWARE_VERSION.fullmatch(report.software_version):
        detail = "Expected a version of up to 100 letters, digits, dots and dashes."
        yield Fault(detail, f"{WHERE}/software_version")
    for place, column in enumerate(report.plan.ignored):
        yield from column_name_faults(column.name, f"{WHERE}/plan/ignored/{place}/name")


def width_faults(widths: Sequence[InputWidth], inputs: Sequence[str], where: str = WHERE) -> Iterator[Fault]:
    """Yield faults of widths, each of one of the encoded `inputs` or of all of them."""
    for place, one in enumerate(widths):
        here = f"{where}/widths/{place}"
        yield from figure_faults([(f"{here}/width", one.width, WIDTH)])
        if one.input is not None:
            yield from input_name_faults(one.input, inputs, f"{here}/input")


def input_name_faults(name: str, inputs: Sequence[str], where: str) -> Iterator[Fault]:
    """Yield a fault where a name is not that of an encoded input."""
    if name not in inputs:
        yield Fault("Expected the name of an encoded input.", where)


def row_count_faults(dropped: int, held_out: int = 0) -> Iterator[Fault]:
    """Yield faults of the numbers of rows that were not trained on."""
    counts = (("rows_dropped", dropped), ("rows_held_out", held_out))
    yield from figure_faults((f"{WHERE}/{name}", count, COUNT) for name, count in counts)
