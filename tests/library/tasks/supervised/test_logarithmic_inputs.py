"""Trainings with logarithms of inputs that have heavy tails."""

from pathlib import Path

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import Poisson, TargetLikelihood
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tables.encoding import EncodedNumber
from relevance_bayes.tasks.fit import Fitted, Limits
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest, named_likelihood
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.small_tables import dataset_of

ROWS = 120


def table(*, by_logarithm: bool = True) -> Block:
    """Numbers that depend on the logarithm of a log-normal input, or on another input alone."""
    rng = np.random.default_rng(3)
    x, z = rng.lognormal(0.0, 1.5, ROWS), rng.normal(size=ROWS)
    y = (np.sin(2.0 * np.log(x)) if by_logarithm else 2.0 * z) + 0.2 * rng.normal(size=ROWS)
    return {"x": NumberArray(x), "z": NumberArray(z), "y": NumberArray(y)}


def planned(block: Block, *, likelihood: TargetLikelihood | None = None) -> SupervisedPlan:
    dataset = dataset_of(block)
    return plan(
        SupervisedRequest(
            dataset.id, "y", effort="quick", likelihood=None if likelihood is None else named_likelihood(likelihood)
        ),
        dataset,
    )


def version(block: Block, folder: Path, plan_: SupervisedPlan, log: FitLog | None = None) -> NewSupervisedVersion:
    training = SupervisedTraining.prepare(plan_, dataset_of(block), lambda: iter([(0, block)]), folder, max_cells=10**6)
    *_, last = training.fit.steps(train, Limits(), FitLog() if log is None else log)
    found = expected(expected(last, Fitted).result, Trained)
    return training.version(found, seconds=1.0, holding=lambda _: (0, block))


def units(made: NewSupervisedVersion) -> dict[str, float | None]:
    inputs = made.predictor.encoding.inputs
    return {one.name: one.unit for one in inputs if isinstance(one, EncodedNumber)}


def lowest(block: Block) -> float:
    x = block["x"]
    assert isinstance(x, NumberArray)
    return float(x.values.min())


def means(made: NewSupervisedVersion, block: Block) -> RegressionPrediction:
    found = SupervisedModel.of(made.predictor, made.report).predict(block, PredictOptions())
    assert isinstance(found, RegressionPrediction)
    return found


def test_logarithms_are_taken_where_they_predict_better(tmp_path: Path) -> None:
    block = table()
    made = version(block, tmp_path, planned(block))
    found = made.report.logarithms
    assert found is not None
    assert found.columns == ("x",)
    assert found.selected
    assert found.gain is not None
    assert found.gain > 0.1
    assert units(made) == {"x": pytest.approx(0.1 * lowest(block)), "z": None}
    y = block["y"]
    assert isinstance(y, NumberArray)
    assert np.sqrt(np.mean(np.square(means(made, block).mean - y.values))) < 0.4


def test_values_stay_where_logarithms_do_not(tmp_path: Path) -> None:
    block = table(by_logarithm=False)
    made = version(block, tmp_path, planned(block))
    assert made.report.logarithms is not None
    assert not made.report.logarithms.selected
    assert units(made) == {"x": None, "z": None}


def test_a_resumed_comparison_ends_with_the_same_model(tmp_path: Path) -> None:
    block = table()
    log = FitLog()
    whole = version(block, tmp_path, planned(block), log)
    again = version(block, tmp_path, planned(block), FitLog(log.entries))
    assert again.report.logarithms == whole.report.logarithms
    np.testing.assert_array_equal(again.predictor.model.mean, whole.predictor.model.mean)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 5])
def test_counts_of_a_log_normal_input_do_not_explode(seed: int, tmp_path: Path) -> None:
    """No mean is above ten times the truth, exp(3) x^1.2, at 2,000 new values of the same distribution."""

    def truth(values: Array) -> Array:
        return np.asarray(np.exp(3.0 + 1.2 * np.log(values)))

    rng = np.random.default_rng(seed)
    x, new = np.exp(1.5 * rng.normal(size=300)), np.exp(1.5 * rng.normal(size=2_000))
    block: Block = {"x": NumberArray(x), "y": NumberArray(rng.poisson(truth(x)).astype(np.float64))}
    found = means(version(block, tmp_path, planned(block, likelihood=Poisson())), {"x": NumberArray(new)})
    assert (found.mean < 10.0 * truth(new)).all()
    assert (found.lower <= found.upper).all()
    assert (found.mean <= found.upper).all()
