"""The API's form of evaluation results."""

from typing import TypeAlias

from app.evaluation.metrics.numbers import NumberResult
from app.evaluation.results import Evaluation
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)

Metrics: TypeAlias = NumberMetrics | ClassMetrics
Diagnostics: TypeAlias = NumberDiagnostics | ClassDiagnostics


def evaluation_result(found: Evaluation, *, pictures: bool) -> EvaluationResult[Metrics, Diagnostics]:
    """Return what predictions for a dataset were worth, with what pictures are drawn of."""
    metrics, diagnostics = _figures(found)
    return EvaluationResult(
        rows=found.figures.rows,
        rows_without_target=found.without_target,
        rows_not_predicted=found.rows_not_predicted,
        rows_seen_in_training=found.seen_in_training,
        metrics=metrics,
        diagnostics=diagnostics if pictures else None,
    )


def _figures(found: Evaluation) -> tuple[Metrics, Diagnostics]:
    figures = found.figures
    if isinstance(figures, NumberResult):
        return NumberMetrics(
            rmse=figures.rmse,
            mae=figures.mae,
            r2=figures.r2,
            nll=figures.nll,
            rows_of_zero_density=figures.rows_of_zero_density,
            coverage=figures.coverage,
        ), NumberDiagnostics(figures.bin_edges, figures.standardised_residuals, figures.pit, figures.residuals)
    return ClassMetrics(
        error=figures.error,
        log_loss=figures.log_loss,
        brier=figures.brier,
        auc=figures.auc,
        ece=figures.ece,
        rows_of_unknown_class=figures.rows_of_unknown_class,
    ), ClassDiagnostics(
        classes=figures.classes,
        auc_per_class=figures.auc_per_class,
        confusion=figures.confusion,
        confidence=figures.confidence,
        reliability=figures.reliability,
    )
