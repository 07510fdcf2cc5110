"""Validation of imported components."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.components import Components
from relevance_bayes.core.types import Array
from relevance_bayes.documents.models import ComponentsPredictor, ComponentsReport
from relevance_bayes.documents.validation.baselines import baseline_faults
from relevance_bayes.documents.validation.columns import input_faults
from relevance_bayes.documents.validation.figures import NOT_NEGATIVE, OPEN_SHARE, Interval, figure_faults
from relevance_bayes.documents.validation.reports import WIDTH, common_faults, row_count_faults, width_faults
from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.encoding import column_names
from relevance_bayes.tables.encoding.table import MAX_SCALED

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
        *_of_plan(report),
        *_of_report(predictor, report),
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


def _of_plan(report: ComponentsReport) -> Iterator[Fault]:
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


def _of_report(predictor: ComponentsPredictor, report: ComponentsReport) -> Iterator[Fault]:
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
