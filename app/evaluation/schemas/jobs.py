"""The API's form of evaluations and promotions."""

from typing import TypeAlias

from pydantic import TypeAdapter

from app.evaluation import results
from app.evaluation.jobs import EVALUATION, EVALUATION_RESULT, PROMOTION, PROMOTION_RESULT
from app.evaluation.metrics.numbers import NumberResult
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.records.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    Evaluation,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.records.promotions import Promotion, PromotionResult

Metrics: TypeAlias = NumberMetrics | ClassMetrics
Diagnostics: TypeAlias = NumberDiagnostics | ClassDiagnostics


def evaluation_result(found: results.Evaluation, *, pictures: bool) -> EvaluationResult[Metrics, Diagnostics]:
    """Return the API's form of a result; with diagnostics, from which plots are drawn, only where `pictures`."""
    metrics, diagnostics = _figures(found)
    return EvaluationResult(
        rows=found.figures.rows,
        rows_without_target=found.without_target,
        rows_not_predicted=found.rows_not_predicted,
        rows_seen_in_training=found.seen_in_training,
        metrics=metrics,
        diagnostics=diagnostics if pictures else None,
    )


def _figures(found: results.Evaluation) -> tuple[Metrics, Diagnostics]:
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
        positive=figures.positive,
    ), ClassDiagnostics(
        classes=figures.classes,
        auc_per_class=figures.auc_per_class,
        confusion=figures.confusion,
        confidence=figures.confidence,
        reliability=figures.reliability,
    )


_EVALUATION: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)


def evaluation_record(job: Job, *, pictures: bool = True) -> Evaluation:
    """Return the evaluation of a job; raises TypeError for a job of another kind."""
    _, plan = EVALUATION.read(job)
    found = EVALUATION_RESULT.read_optional(job.result)
    own = {"task": plan.task, "target": plan.target, "result": found and evaluation_result(found, pictures=pictures)}
    return _EVALUATION.validate_python(shared_by_jobs(job) | own)


_PROMOTION: TypeAdapter[Promotion] = TypeAdapter(Promotion)


def promotion_record(job: Job, *, pictures: bool = True) -> Promotion:
    """Return the promotion of a job; raises TypeError for a job of another kind."""
    _, plan = PROMOTION.read(job)
    found = PROMOTION_RESULT.read_optional(job.result)
    own = {
        "task": plan.task,
        "target": plan.target,
        "alias": plan.alias,
        "champion": plan.champion,
        "metric": plan.metric,
        "margin": plan.margin,
        "criterion": plan.criterion,
        "seed": plan.seed,
        "groups": plan.groups,
        "result": found and _result(found, pictures=pictures),
    }
    return _PROMOTION.validate_python(shared_by_jobs(job) | own)


def _result(found: results.Promotion, *, pictures: bool) -> PromotionResult[Metrics, Diagnostics]:
    champion = found.champion
    return PromotionResult(
        moved=found.moved,
        reason=found.reason,
        improvement=found.improvement,
        rows_seen_in_training=found.rows_seen_in_training,
        rows_without_challenger_loss=found.rows_without_challenger_loss,
        challenger=evaluation_result(found.challenger, pictures=pictures),
        champion=None if champion is None else evaluation_result(champion, pictures=pictures),
    )
