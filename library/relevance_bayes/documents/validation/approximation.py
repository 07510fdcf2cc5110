"""Validation of an imported approximation."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.documents.models import ApproximationPredictor, ApproximationReport
from relevance_bayes.documents.validation.columns import column_name_faults, input_faults
from relevance_bayes.documents.validation.figures import (
    COUNT,
    NOT_NEGATIVE,
    OPEN_SHARE,
    POSITIVE_COUNT,
    difference_faults,
    figure_faults,
)
from relevance_bayes.documents.validation.reports import WIDTH, common_faults
from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.encoding import InputEncoding


def approximation_faults(predictor: ApproximationPredictor, report: ApproximationReport) -> tuple[Fault, ...]:
    """Return the inconsistencies, with their places in a document; arrays have consistent sizes."""
    return (
        *input_faults(predictor.encoding, {report.plan.coefficients}),
        *_of_numbers(predictor.encoding),
        *_of_terms(predictor, report),
        *_of_plan(report),
        *_of_report(predictor, report),
    )


def _of_numbers(encoding: InputEncoding) -> Iterator[Fault]:
    plain = InputEncoding.plain([column.name for column in encoding.inputs])
    for place, (column, expected) in enumerate(zip(encoding.inputs, plain.inputs, strict=True)):
        if column != expected:
            detail = "Expected inputs with shift 0, scale 1 and no replacement of missing values."
            yield Fault(detail, f"/inputs/{place}")


def _of_terms(predictor: ApproximationPredictor, report: ApproximationReport) -> Iterator[Fault]:
    """Yield faults of the terms: the magnitude of a value is at most the sum of those of the coefficients."""
    terms = predictor.expansion
    with np.errstate(over="ignore"):
        maximum = abs(terms.constant) + np.abs(terms.coefficients).sum()
    if not np.isfinite(maximum):
        yield Fault("Expected a finite sum of the coefficients' magnitudes.", "/model/coefficients")
    if report.plan.density and (terms.coefficients < 0.0).any():
        yield Fault("Expected no negative coefficients of a density.", "/model/coefficients")
    if report.plan.density and terms.constant != 0.0:
        yield Fault("Expected a constant of 0 for a density.", "/model/constant")


def _of_plan(report: ApproximationReport) -> Iterator[Fault]:
    plan, where = report.plan, "/report/plan"
    if plan.coefficients is not None:
        yield from column_name_faults(plan.coefficients, f"{where}/coefficients")
    if len(plan.widths) != len(plan.inputs) or not all(width in WIDTH for width in plan.widths):
        yield Fault(f"Expected {len(plan.inputs)} widths, each of them {WIDTH}, one for each input.", f"{where}/widths")
    tolerance, maximum = plan.tolerance, plan.max_functions
    yield from figure_faults(
        [(f"{where}/tolerance", tolerance, OPEN_SHARE), (f"{where}/max_functions", maximum, POSITIVE_COUNT)]
    )


def _of_report(predictor: ApproximationPredictor, report: ApproximationReport) -> Iterator[Fault]:
    """Yield faults of the report. The error of a density may be above 1: it is measured before the part below 0 is
    removed."""
    yield from common_faults(report)
    if report.functions > report.rows:
        yield Fault(f"Expected {report.functions} rows at least, one for each term kept.", "/report/rows")
    yield from figure_faults(
        [
            ("/report/error", report.error, NOT_NEGATIVE),
            ("/report/integral_negative", report.integral_negative, NOT_NEGATIVE),
        ]
    )
    for place, one in enumerate(report.path):
        where = f"/report/path/{place}"
        yield from figure_faults(
            [(f"{where}/functions", one.functions, COUNT), (f"{where}/error", one.error, NOT_NEGATIVE)]
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mass = predictor.expansion.mass
    yield from difference_faults([("/report/integral_kept", report.integral_kept, mass)])
