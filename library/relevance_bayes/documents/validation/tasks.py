"""Validation of imported approximations and components."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.documents.validation.figures import (
    COUNT,
    NOT_NEGATIVE,
    OPEN_SHARE,
    POSITIVE_COUNT,
    WIDTH,
    Interval,
    baseline_faults,
    column_name_faults,
    common_faults,
    difference_faults,
    figure_faults,
    input_faults,
    row_count_faults,
    width_faults,
)
from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.encoding import InputEncoding, column_names
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.components.report import ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.components.space import Components


def approximation_faults(predictor: ApproximationPredictor, report: ApproximationReport) -> tuple[Fault, ...]:
    """Return the inconsistencies, with their places in a document; arrays have consistent sizes."""
    return (
        *input_faults(predictor.encoding, {report.plan.coefficients}),
        *_of_inputs(predictor.encoding),
        *_of_terms(predictor, report),
        *_of_terms_plan(report),
        *_of_terms_report(predictor, report),
    )


def _of_inputs(encoding: InputEncoding) -> Iterator[Fault]:
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


def _of_terms_plan(report: ApproximationReport) -> Iterator[Fault]:
    plan, where = report.plan, "/report/plan"
    if plan.coefficients is not None:
        yield from column_name_faults(plan.coefficients, f"{where}/coefficients")
    if len(plan.widths) != len(plan.inputs) or not all(width in WIDTH for width in plan.widths):
        yield Fault(f"Expected {len(plan.inputs)} widths, each of them {WIDTH}, one for each input.", f"{where}/widths")
    tolerance, maximum = plan.tolerance, plan.max_functions
    yield from figure_faults(
        [(f"{where}/tolerance", tolerance, OPEN_SHARE), (f"{where}/max_functions", maximum, POSITIVE_COUNT)]
    )


def _of_terms_report(predictor: ApproximationPredictor, report: ApproximationReport) -> Iterator[Fault]:
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
    yield from difference_faults(report.integral_kept, mass, "/report/integral_kept")


SEED = Interval(0, 2**53 - 1)

REACHED = Interval(-1e-6, 1.0 + 1e-6)
"""The interval of a share, with a tolerance for rounding."""

BETWEEN = f"from {1.0 / MAX_SCALED:g} to {MAX_SCALED:g}"


def components_faults(predictor: ComponentsPredictor, report: ComponentsReport) -> tuple[Fault, ...]:
    """Return the inconsistencies, with their places in a document; arrays have consistent sizes.

    Without any, predictions are finite for every row, unless the covariance is not positive definite, which its
    factorisation detects.
    """
    return (
        *input_faults(predictor.encoding),
        *_of_places(predictor.components),
        *_of_numbers(predictor),
        *_of_components_plan(report),
        *_of_components_report(predictor, report),
    )


def _of_places(found: Components) -> Iterator[Fault]:
    """Yield faults of positions: within these bounds squared distances are finite."""
    bend, where = found.input_map, "/model/functions"
    if not _is_within_limits(bend.widths):
        yield Fault(f"Expected widths {BETWEEN}.", f"{where}/widths")
    if not (np.abs(found.centres) <= MAX_SCALED).all():
        yield Fault(f"Expected numbers of at most {MAX_SCALED:g} in magnitude.", f"{where}/centres")
    for name, warp in (("skew", bend.skew), ("tail", bend.tail)):
        if warp is not None:
            yield Fault("Expected inputs without a warp.", f"{where}/{name}")


def _of_numbers(predictor: ComponentsPredictor) -> Iterator[Fault]:
    found, usual = predictor.components, predictor.log_densities
    if not _is_within_limits(found.weights):
        yield Fault(f"Expected weights {BETWEEN}.", "/model/weights")
    if not _is_within_limits(np.array(found.noise_variance)):
        yield Fault(f"Expected a noise variance {BETWEEN}.", "/model/noise_variance")
    if not len(usual) or (np.diff(usual) < 0.0).any():
        yield Fault("Expected at least one log density, in ascending order.", "/model/log_densities")


def _of_components_plan(report: ComponentsReport) -> Iterator[Fault]:
    plan = report.plan
    if plan.widths is not None and (
        len(plan.widths) not in {1, len(plan.inputs)} or not all(width in WIDTH for width in plan.widths)
    ):
        detail = f"Expected one width, {WIDTH}, or one for each of {len(plan.inputs)} inputs."
        yield Fault(detail, "/report/plan/widths")
    yield from figure_faults(
        [
            ("/report/plan/min_explained_variance", plan.min_explained_variance, OPEN_SHARE),
            ("/report/plan/seed", plan.seed, SEED),
        ]
    )


def _of_components_report(predictor: ComponentsPredictor, report: ComponentsReport) -> Iterator[Fault]:
    yield from common_faults(report)
    yield from row_count_faults(report.rows_dropped)
    yield from baseline_faults(report.baseline, report.plan.inputs, None)
    yield from width_faults(report.widths, column_names(predictor.encoding))
    yield from figure_faults(
        [
            ("/report/rows_drawn", report.rows_drawn, Interval(1, report.rows)),
            ("/report/explained_variance", report.explained_variance, REACHED),
        ]
    )
    yield from figure_faults(
        (f"/report/variances/{place}", variance, NOT_NEGATIVE) for place, variance in enumerate(report.variances)
    )


def _is_within_limits(numbers: Array) -> bool:
    return bool(((numbers >= 1.0 / MAX_SCALED) & (numbers <= MAX_SCALED)).all())
