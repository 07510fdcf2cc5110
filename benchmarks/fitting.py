"""A job's plan, encoding and fit in this process: what the service learns of some columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import numpy as np

from app.datasets.records import Dataset
from app.settings import Settings
from benchmarks.accuracy.scoring import Distribution, PredictedClasses, PredictedNumbers
from benchmarks.files import NotRun
from relevance_bayes.core.likelihoods.base import Prediction
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.pool import LearnedModel, ready_of
from relevance_bayes.core.models.prediction import ClassPrediction, NumberPrediction
from relevance_bayes.core.selection import Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, Column, kind_of
from relevance_bayes.tables.encoding import Encoding, encode_inputs, user_log_evidence, user_mean, user_scores
from relevance_bayes.tables.statistics import TableStatistics
from relevance_bayes.tasks.fit import Fitted as FitResult
from relevance_bayes.tasks.fit import Limits
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.supervised.plan import plan_supervised
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.supervised.training import SupervisedTraining

NO_DATASET = UUID(int=0)

SETTINGS = {name: Settings.model_fields[name].default for name in ("max_training_cells", "max_candidate_cells")}


@dataclass(frozen=True, eq=False)
class Fitted:
    """The model of a job, the encoding of its columns, and what the job measured by folds."""

    model: LearnedModel
    encoding: Encoding
    validation: Mapping[str, float] = field(default_factory=dict)
    """The figures of the rows that the folds left out, in the target's units."""
    score: tuple[float, float] = (np.nan, np.nan)
    """The log density by folds in nats a row, in the target's units, and its standard error; NaN without them."""

    def predict(self, rows: Block) -> Prediction:
        """Return the predictive distribution in the encoded target's units; raises NotRun for what can't be encoded."""
        X, faults = encode_inputs(self.encoding, rows)
        if faults:
            raise NotRun(faults[0].detail)
        prediction, _ = ready_of(self.model).predict(X)
        return prediction

    def predicted_numbers(self, rows: Block, t: Array) -> PredictedNumbers:
        """Return what is predicted of numbers t (n,), in the target's units."""
        return self.numbers_of(self.predict(rows), t)

    def numbers_of(self, prediction: Prediction, t: Array) -> PredictedNumbers:
        """Return a prediction of numbers t (n,) in the target's units."""
        target = self.encoding.target
        if not isinstance(prediction, NumberPrediction):
            raise TypeError(f"expected numbers, got {type(prediction).__name__}")
        lower, mean, upper = (
            user_mean(target, values)
            for values in (prediction.quantile(0.025), prediction.mean, prediction.quantile(0.975))
        )
        log_density = prediction.log_density((t - target.shift) / target.scale) - np.log(target.scale)
        return PredictedNumbers(
            mean, Distribution(target.scale * np.sqrt(prediction.variance), lower, upper, log_density)
        )

    def predicted_classes(self, rows: Block) -> PredictedClasses:
        """Return what is predicted of classes."""
        return classes_of(self.predict(rows))


def classes_of(prediction: Prediction) -> PredictedClasses:
    """Return a prediction of classes by its probabilities."""
    if not isinstance(prediction, ClassPrediction):
        raise TypeError(f"expected classes, got {type(prediction).__name__}")
    probabilities = prediction.probabilities
    return PredictedClasses(probabilities, probabilities.argmax(axis=1).astype(np.float64))


def fitted(rows: Block, request: SupervisedRequest) -> Fitted:
    """Plan and fit a job whose dataset has these rows, as a worker does it."""
    plan, folder = plan_supervised(request, dataset_of(rows)), TemporaryDirectory()
    with folder as path:
        training = SupervisedTraining.prepare(
            plan, dataset_of(rows), lambda: iter([(0, rows)]), Path(path), max_cells=SETTINGS["max_training_cells"]
        )
        *_, last = training.fit.steps(train, Limits(1, None, SETTINGS["max_candidate_cells"]), FitLog())
    trained = expected(expected(last, FitResult).result, Trained)
    encoding = training.made.learned_from(trained).encoding
    score = trained.score
    value = np.nan if score.value is None else user_log_evidence(encoding.target, score.value, 1)
    error = np.nan if score.standard_error is None else score.standard_error
    return Fitted(trained.learned, encoding, user_scores(encoding.target, trained.validation), (value, error))


def dataset_of(rows: Mapping[str, Column]) -> Dataset:
    """Return the dataset that an upload of these rows makes."""
    kinds = [kind_of(column) for column in rows.values()]
    statistics = TableStatistics(list(rows), kinds)
    statistics.add(rows)
    moment = datetime(2000, 1, 1, tzinfo=UTC)
    digest, columns = statistics.digest(), statistics.summaries()
    return Dataset(
        id=NO_DATASET,
        owner="nobody",
        name="table",
        created_at=moment,
        rows=statistics.rows,
        digest=digest,
        columns=columns,
    )
