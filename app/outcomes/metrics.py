"""The metrics of outcomes by model, from the database."""

from collections.abc import Iterator
from typing import get_args

from app.database.transaction import Transaction
from app.metrics import Labels, MetricSample, gauge, sums
from app.outcomes.charts import OutcomeSums
from app.outcomes.repository import AlarmRepository, RecordedPredictionRepository
from app.registry.version_repository import VersionRepository
from relevance_bayes.records.outcomes import Statistic

MAX_MODELS = 100
"""The most models with metrics of their own: those whose predictions with outcomes are the newest."""

WINDOW_SECONDS = 86_400.0
"""The age of predictions whose outcomes are in the metrics."""

STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
OF_MODEL = ("owner", "model")
OUTCOMES = gauge("relevance_outcomes", "Outcomes of predictions of the last 24 hours, by model.", *OF_MODEL)
COVERAGE = gauge(
    "relevance_outcome_coverage", "Share of these outcomes in the interval of a level, by model.", *OF_MODEL, "level"
)
LOG_SCORE = gauge("relevance_outcome_log_score", "Mean log score of these outcomes in nats, by model.", *OF_MODEL)
EXPECTED = gauge(
    "relevance_outcome_expected_log_score", "The same as the predictions expected it, by model.", *OF_MODEL
)
ACCURACY = gauge("relevance_outcome_accuracy", "Share of correct classes of these outcomes, by model.", *OF_MODEL)
CONFIDENCE = gauge("relevance_outcome_confidence", "The same as the predictions expected it, by model.", *OF_MODEL)
ALARMS = gauge(
    "relevance_model_alarms", "Raised alarms about a statistic of outcomes, by model.", *OF_MODEL, "statistic"
)


def outcome_metrics(tx: Transaction) -> Iterator[MetricSample]:
    """Yield the metrics of at most MAX_MODELS models."""
    recent = RecordedPredictionRepository(tx).recent(seconds=WINDOW_SECONDS, limit=MAX_MODELS)
    raised = AlarmRepository(tx).raised(limit=MAX_MODELS)
    names = VersionRepository(tx).names({*recent, *(version_id for version_id, _ in raised)})
    models = {version_id: (owner, model) for version_id, (owner, model, _) in names.items()}
    chosen = {*[*dict.fromkeys(models.values())][:MAX_MODELS]}
    by_model: dict[Labels, OutcomeSums] = {}
    for version_id, one in recent.items():
        labels = models.get(version_id)  # None for a version that was deleted between the queries
        if labels is None:
            continue
        by_model[labels] = by_model[labels] + one if labels in by_model else one
    for labels in chosen & by_model.keys():
        yield from _of_outcomes(labels, by_model[labels])
    alarms = [MetricSample(ALARMS, (*labels, statistic), (0,)) for labels in chosen for statistic in STATISTICS]
    alarms += [
        MetricSample(ALARMS, (*models[version_id], statistic), (number,))
        for (version_id, statistic), number in raised.items()
        if models.get(version_id) in chosen
    ]
    yield from sums(alarms)


def _of_outcomes(labels: Labels, found: OutcomeSums) -> Iterator[MetricSample]:
    bucket = found.bucket()
    yield MetricSample(OUTCOMES, labels, (bucket.outcomes,))
    for one in bucket.coverage:
        yield MetricSample(COVERAGE, (*labels, str(one.percent)), (one.coverage,))
    pairs = (
        (LOG_SCORE, bucket.log_score),
        (EXPECTED, bucket.expected_log_score),
        (ACCURACY, bucket.accuracy),
        (CONFIDENCE, bucket.confidence),
    )
    for family, value in pairs:
        if value is not None:
            yield MetricSample(family, labels, (value,))
