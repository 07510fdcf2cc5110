"""Evaluation of a version on a dataset, in one pass over it.

No checkpoint is stored: a pass costs as much as predicting, seconds for a million rows, so a new attempt starts from
the beginning.
"""

from app.evaluation.accumulator import ScoreAccumulator
from app.evaluation.requests import EvaluationPlan
from app.evaluation.results import Evaluation
from app.jobs.records import Job
from app.jobs.worker.attempts import Attempt
from app.prediction import evaluate_block
from app.prediction.dataset_rows import reported_blocks, version_at_hand
from app.prediction.training_rows import seen_rows, training_rows_of


def evaluate(attempt: Attempt, job: Job, plan: EvaluationPlan) -> Evaluation:
    """Return the metrics of the version's predictions; raises Superseded, Interrupted."""
    served = version_at_hand(attempt, job, plan.version)
    training_rows = training_rows_of(attempt, job, served.version)
    accumulator = ScoreAccumulator.of(served, training_rows)
    for block in reported_blocks(attempt, job, phase="evaluate"):
        found = evaluate_block(served, block)
        accumulator.add(found)
        accumulator.count_seen(found.chosen & seen_rows(block, training_rows))
    return accumulator.result()
