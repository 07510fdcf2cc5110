"""Validation of the report of a model of numbers or classes: its numbers, and those that follow from the model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import inf

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.likelihoods import ClassLikelihood
from relevance_bayes.core.likelihoods.temperature import temperature_of
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import (
    LearnedModel,
    likelihood_of,
    members_of,
    representative,
)
from relevance_bayes.documents.validation.figures import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    SHARE,
    WHERE,
    Figure,
    Interval,
    column_name_faults,
    common_faults,
    difference_faults,
    figure_faults,
    likelihood_faults,
    noise_by_row_faults,
    row_count_faults,
    width_faults,
)
from relevance_bayes.documents.validation.statistics import baseline_faults, diagnostics_faults, input_row_faults
from relevance_bayes.records.errors import Fault, pointer
from relevance_bayes.tables.encoding import (
    Encoding,
    column_names,
)
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport, derived_members
from relevance_bayes.tasks.supervised.request import GroupSplit, RandomSplit, Split

HOLDOUT = Interval(0.0, 0.9)

SETS_OF_METRICS = frozenset({"holdout", "validation", "leave_one_out"})
NUMBER_METRICS = {
    "rmse": NOT_NEGATIVE,
    "mae": NOT_NEGATIVE,
    "r2": Interval(-inf, 1.0),
    "nll": FINITE,
    "coverage_95": SHARE,
    "nll_se": NOT_NEGATIVE,
    "rows": COUNT,
}
CLASS_METRICS = {
    "error": SHARE,
    "log_loss": NOT_NEGATIVE,
    "brier": SHARE,
    "log_loss_se": NOT_NEGATIVE,
    "rows": COUNT,
}


def supervised_report_faults(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Yield a fault for each value that no training reports, with its place in a document."""
    encoding = predictor.encoding
    yield from common_faults(report)
    yield from row_count_faults(report.rows_dropped, report.rows_held_out)
    yield from baseline_faults(report.baseline, report.plan.inputs, report.plan.target)
    yield from input_row_faults(report.input_rows, report.plan.inputs)
    yield from diagnostics_faults(
        report.diagnostics, report.plan.inputs, encoding.target.classes, max(len(report.members), 1)
    )
    yield from _of_model(predictor, report)
    yield from _of_metrics(report)
    yield from _of_score(report)
    yield from _of_members(predictor.learned, report, encoding)
    yield from _of_rows(report)
    yield from figure_faults([(f"{WHERE}/plan/holdout", report.plan.holdout, HOLDOUT)])
    yield from _of_split(report.plan.split)
    for place, one in enumerate(report.alternatives):
        where = f"{WHERE}/alternatives/{place}"
        yield from figure_faults([(f"{where}/functions", one.functions, COUNT)])
        yield from likelihood_faults(one.likelihood, f"{where}/likelihood", len(report.plan.classes))
        yield from noise_by_row_faults(one.likelihood, f"{where}/likelihood", report.plan.noise_column)


def _of_model(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Yield faults of values that follow from the model."""
    model, likelihood = representative(predictor.learned), likelihood_of(predictor.learned)
    temperature = temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None
    yield from difference_faults(report.rows, model.rows, f"{WHERE}/rows")
    yield from difference_faults(report.candidates, model.candidates, f"{WHERE}/candidates")
    yield from difference_faults(report.temperature, temperature, f"{WHERE}/temperature")
    yield from difference_faults(report.termination, model.termination, f"{WHERE}/termination")


def _of_members(learned: LearnedModel, report: SupervisedReport, encoding: Encoding) -> Iterator[Fault]:
    """Yield faults of the members, which follow from the model; kernels that it has no functions of, and their widths,
    are those of the request."""
    expected = derived_members(learned, encoding, _inputs(report, encoding))
    if len(report.members) != len(expected):
        yield Fault(f"Expected {len(expected)} members, got {len(report.members)}.", f"{WHERE}/members")
        return
    process = learned.process if isinstance(learned, LocalModel) else None
    models = (None,) if process is not None else members_of(learned)
    for place, (member, model, derived) in enumerate(zip(report.members, models, expected, strict=True)):
        where, found = f"{WHERE}/members/{place}", member.hyperparameters
        kernels = [process.kernel] if process is not None else [] if model is None else _kernels(model)
        if member.kernel not in kernels and kernels and (member.kernel is not None or process is not None):
            yield Fault("Expected a kernel of the model.", f"{where}/kernel")
        scales = replace(derived.hyperparameters, widths=derived.hyperparameters.widths or found.widths)
        measured = replace(
            derived, kernel=member.kernel, evidence_unreduced=member.evidence_unreduced, score=member.score
        )
        yield from difference_faults(member, replace(measured, hyperparameters=scales), where)
        yield from width_faults(found.widths, column_names(encoding), f"{where}/hyperparameters")
    if process is not None and (report.local is None or report.local.neighbours != process.neighbours):
        yield Fault("Expected the comparison that selected the process.", f"{WHERE}/local")


def _kernels(model: Model) -> list[Kernel]:
    kernels = [one.kernel for one in model.functions if isinstance(one, KernelFunctions)]
    return [kernel.kernel if isinstance(kernel, Additive) else kernel for kernel in kernels]


def _inputs(report: SupervisedReport, encoding: Encoding) -> Sequence[str] | None:
    """Return the names of the inputs in the plan's order; None where they are not those of the encoding."""
    planned, encoded = [column.name for column in report.plan.inputs], [column.name for column in encoding.inputs]
    return planned if sorted(planned) == sorted(encoded) else None


def _of_metrics(report: SupervisedReport) -> Iterator[Fault]:
    known = CLASS_METRICS if report.task == "classification" else NUMBER_METRICS
    for name, figures in report.metrics.items():
        if name not in SETS_OF_METRICS:
            yield Fault(f"Expected one of {', '.join(sorted(SETS_OF_METRICS))}.", WHERE + pointer(("metrics", name)))
            continue
        for figure, value in figures.items():
            where = WHERE + pointer(("metrics", name, figure))
            if figure in known:
                yield from figure_faults([(where, value, known[figure])])
            else:
                yield Fault(f"Expected one of {', '.join(sorted(known))}.", where)


def _of_score(report: SupervisedReport) -> Iterator[Fault]:
    """Yield faults of a score, which has a value or a reason."""
    yield from figure_faults(
        [
            (f"{WHERE}/unreduced_functions", report.unreduced_functions, COUNT),
            (f"{WHERE}/plan/max_score_loss", report.plan.max_score_loss, NOT_NEGATIVE),
        ]
    )
    found = report.score
    if found is None:
        return
    yield from figure_faults(
        [
            (f"{WHERE}/score/value", found.value, FINITE),
            (f"{WHERE}/score/standard_error", found.standard_error, NOT_NEGATIVE),
            (f"{WHERE}/score/rows", found.rows, COUNT),
            (f"{WHERE}/score/folds", found.folds, COUNT),
        ]
    )
    if found.value is None and found.reason is None:
        yield Fault("Expected a value, or the reason why there is none.", f"{WHERE}/score")


def _of_rows(report: SupervisedReport) -> Iterator[Fault]:
    last = report.rows + report.rows_dropped + report.rows_held_out - 1
    figures: Iterator[Figure] = chain.from_iterable(
        (
            (f"{WHERE}/outliers/{place}/row", one.row, Interval(0, last)),
            (f"{WHERE}/outliers/{place}/weight", one.weight, SHARE),
        )
        for place, one in enumerate(report.outliers)
    )
    yield from figure_faults(figures)
    yield from figure_faults(
        (f"{WHERE}/class_rows/{place}/rows", one.rows, COUNT) for place, one in enumerate(report.class_rows)
    )
    if report.class_rows and sum(one.rows for one in report.class_rows) != report.rows:
        yield Fault(f"Expected {report.rows} rows in total, as in `rows`.", f"{WHERE}/class_rows")


def _of_split(split: Split) -> Iterator[Fault]:
    if isinstance(split, RandomSplit):
        return
    if isinstance(split, GroupSplit) or split.column is not None:
        yield from column_name_faults(split.column or "", f"{WHERE}/plan/split/column")
