"""Tables given twice and inputs far from all others, from raw columns to a version."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.priors import JITTER, GaussianProcess, Independent
from relevance_bayes.core.selection import Compared, Folding, Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import TrainingWarning
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.diagnostics import warnings
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from relevance_bayes.tasks.supervised.materialise import Materialised, materialise
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.supervised.request import GroupSplit, SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, numbers, rows_of, texts

MANY = 10**9
REQUEST = SupervisedRequest(DATASET_ID, "y")


def sinc(rows: int = 100, draw: int = 0) -> Block:
    rng = np.random.default_rng(draw)
    x = np.linspace(-10.0, 10.0, rows)
    y = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(rows)
    return {"x": NumberArray(x), "y": NumberArray(y)}


def twice(block: Block, times: int = 2) -> Block:
    rows = len(block["x"].values) if isinstance(block["x"], NumberArray) else 0
    return rows_of(block, list(range(rows)) * times)


def made(block: Block, directory: Path, requested: SupervisedRequest = REQUEST) -> Materialised:
    return materialise(planned(block, requested), lambda: iter([(0, block)]), directory, max_cells=MANY)


def planned(block: Block, requested: SupervisedRequest = REQUEST) -> SupervisedPlan:
    return plan(requested, dataset_of(block))


def learned(block: Block, directory: Path, requested: SupervisedRequest = REQUEST) -> NewSupervisedVersion:
    """The version of a training on all rows of a block."""
    required, dataset = planned(block, requested), dataset_of(block)
    training = SupervisedTraining.prepare(required, dataset, lambda: iter([(0, block)]), directory, max_cells=MANY)
    fit: SupervisedFit = training.fit
    rows = fit.rows(np.array(training.made.rows()[: fit.training]))
    *_, last = train(rows, replace(fit.selection, folds=0, bounds=None), folding=Folding())
    assert isinstance(last, Trained)
    return training.version(last, seconds=1.0, holding=lambda _: (0, block))


def curve(version: NewSupervisedVersion, x: Array) -> RealPrediction:
    """The prediction at x (n,), standardised as the version has it."""
    predictor = version.predictor
    assert isinstance(predictor, SupervisedPredictor)
    layout, target = predictor.encoding.layout, predictor.encoding.target
    found, _ = ready_of(predictor.learned).predict((x[:, None] - layout.shift) / layout.scale)
    assert isinstance(found, RealPrediction)
    moved = target.shift + target.scale * found.mean
    return RealPrediction(moved, target.scale**2 * found.variance, found.residual, found.weights)


INDEPENDENT = replace(REQUEST, prior=Independent())


@pytest.mark.parametrize(
    "requested",
    [pytest.param(REQUEST, id="process"), pytest.param(INDEPENDENT, id="independent", marks=pytest.mark.thorough)],
)
def test_a_table_given_twice_teaches_what_it_teaches_once(requested: SupervisedRequest, tmp_path: Path) -> None:
    once, both = learned(sinc(), tmp_path, requested), learned(twice(sinc()), tmp_path, requested)
    x = np.linspace(-11.0, 11.0, 60)
    here, there = curve(once, x), curve(both, x)
    assert (abs(here.mean - there.mean) <= 0.1 * np.sqrt(here.variance)).all()
    assert (there.variance <= here.variance * (1.0 + 1e-9)).all()
    assert both.report.functions <= once.report.functions
    if once.report.hyperparameters.noise_sd is not None:
        assert both.report.hyperparameters.noise_sd == pytest.approx(once.report.hyperparameters.noise_sd, rel=0.05)
    assert (both.report.rows, both.report.rows_dropped) == (100, 100)
    (warning,) = both.report.warnings
    assert warning == TrainingWarning("duplicates", "100 rows repeat others in inputs and target: each counts once.")
    assert once.report.warnings == ()


def repeated_measurements() -> Block:
    """Two targets at each place."""
    rng = np.random.default_rng(0)
    return {"x": NumberArray(np.repeat(np.arange(30.0), 2)), "y": NumberArray(rng.standard_normal(60))}


def rounded() -> Block:
    """Targets that agree by chance."""
    rng = np.random.default_rng(0)
    return {"x": NumberArray(np.repeat(np.arange(10.0), 20)), "y": NumberArray(rng.integers(0, 4, 200).astype(float))}


def classes() -> Block:
    return {"x": numbers(*[1.0, 2.0, 3.0, 4.0] * 10), "y": flags(*[True, False, True, False] * 10)}


@pytest.mark.parametrize("block", [repeated_measurements(), rounded(), classes()])
def test_rows_that_are_equal_by_chance_all_count(block: Block, tmp_path: Path) -> None:
    found = made(block, tmp_path)
    assert found.copies == found.dropped == 0


def test_copies_in_another_group_are_kept_and_the_file_has_all_else(tmp_path: Path) -> None:
    block: Block = {**twice(sinc(40)), "g": texts(*["a", "b"] * 20, *["b", "a"] * 20)}
    by_group = made(block, tmp_path, replace(REQUEST, split=GroupSplit("g")))
    assert (by_group.training, by_group.copies) == (80, 0)
    found = made(twice(sinc(40), 3), tmp_path)
    rows = np.array(found.rows())
    assert (found.training, found.copies, found.dropped) == (40, 80, 80)
    assert sorted(rows[:, -1].tolist()) == list(range(40))


def test_copies_are_not_divided_by_the_holdout(tmp_path: Path) -> None:
    found = made(twice(sinc(50)), tmp_path, replace(REQUEST, holdout=0.2))
    rows = np.array(found.rows())
    assert (found.training, found.held_out) == (40, 20)
    assert not set(rows[:40, 0]) & set(rows[40:, 0])


def with_far(far: float, place: int = 17) -> Block:
    """A second input whose value lies far from all others in one row."""
    block = sinc()
    z = np.random.default_rng(1).standard_normal(100)
    z[place] = far
    return {**block, "z": NumberArray(z)}


@pytest.mark.parametrize("far", [1e200, -1e300, 1e7])
def test_an_outlying_input_is_named_and_the_others_are_learned_from(far: float, tmp_path: Path) -> None:
    version = learned(with_far(far), tmp_path)
    report = version.report
    assert (report.rows, report.rows_dropped) == (99, 1)
    assert report.functions > 5
    (warning,) = report.warnings
    assert warning.kind == "outlying_input"
    assert warning.detail.startswith("`z` lies far outside its other values (")
    assert warning.detail.endswith("): row 18 of the data is left out.")
    noise_sd = report.hyperparameters.noise_sd
    assert noise_sd is not None
    assert noise_sd < 0.15


def test_a_row_far_out_in_an_input_is_trained_on_and_named(tmp_path: Path) -> None:
    report = learned(with_far(30.0), tmp_path).report
    assert (report.rows, report.rows_dropped) == (100, 0)
    (detail,) = [one.detail for one in report.warnings if one.kind == "outlying_input"]
    assert detail.startswith("`z` of row 18 of the data lies ")
    assert detail.endswith(
        " times as far from the median as that of any other row: beyond these, predictions follow from this row alone."
    )


def test_ordinary_columns_are_scaled_as_ever_and_no_row_is_left_out(tmp_path: Path) -> None:
    block = with_far(3.0)
    found = made(block, tmp_path)
    z = block["z"]
    assert isinstance(z, NumberArray)
    (column,) = (one for one in found.encoding.layout.numbers if one.name == "z")
    assert column.shift == pytest.approx(z.values.mean())
    assert column.scale == pytest.approx(z.values.std())
    assert (found.training, found.outlying) == (100, ())


@pytest.mark.parametrize("place", range(5))
def test_an_outlying_row_is_no_more_measured_than_learned_from(place: int, tmp_path: Path) -> None:
    """Which is the same whether it was to be held out or not, and of five rows with half held out some are."""
    found = made(with_far(1e200, place), tmp_path, replace(REQUEST, holdout=0.5))
    assert (found.training + found.held_out, found.dropped) == (99, 1)
    assert np.abs(found.rows()).max() < 1e3


def test_inputs_that_are_used_as_they_are_have_no_outlying_values(tmp_path: Path) -> None:
    found = made(with_far(1e7), tmp_path, replace(REQUEST, standardise=False))
    assert (found.training, found.outlying) == (100, ())


def of_pool(*jitters: float | None) -> Iterator[Trained]:
    spec = Spec(GaussianNoise(), (KernelBasis(Gaussian()), Bias()), GaussianProcess())
    *_, last = train(_first(), Selection(Spec(GaussianNoise(), (Bias(),))))
    assert isinstance(last, Trained)
    for jitter in jitters:
        lost = Compared(spec, None, "expected a positive definite matrix of order 59", computable=False)
        behind = Compared(spec, None, "After 2 of 5 folds it was too far behind to be taken.")
        yield replace(last, learned=replace(last.model, jitter=jitter), compared=(lost, behind))


def _first() -> Rows:
    return Rows(np.arange(6.0)[:, None], np.arange(6.0))


def test_lost_alternatives_and_jitter_are_reported(tmp_path: Path) -> None:
    here = made(sinc(20), tmp_path)
    none, usual, more = (warnings(one, here) for one in of_pool(None, JITTER, 1e-3))
    given = "An alternative could not be computed and was left out: gaussian gaussian process with gaussian noise"
    assert none == usual
    assert none == (
        TrainingWarning("numerical_failure", f"{given} (expected a positive definite matrix of order 59)."),
    )
    assert [one.kind for one in more] == ["numerical_failure", "jitter"]
    assert more[1].detail.startswith("1e-03 was added to the diagonal of a kernel matrix, where 1e-05 is usual")


def test_fewer_rows_than_two_for_each_column_and_two_more_are_warned_of(tmp_path: Path) -> None:
    (none,) = of_pool(None)
    none = replace(none, compared=())
    assert warnings(none, made(sinc(4), tmp_path)) == ()
    (found,) = warnings(none, made(sinc(3), tmp_path))
    assert found.kind == "few_rows"
    assert found.detail.startswith("3 rows were learned from, and the inputs have 1 column once encoded")
    assert "fewer than 4 rows" in found.detail


@pytest.mark.parametrize("far", [1e7, 1e70])
def test_a_prediction_at_an_outlying_input_is_finite_and_outside_of_the_support(far: float, tmp_path: Path) -> None:
    version = learned(with_far(1e200), tmp_path, replace(REQUEST, effort="quick", prior=GaussianProcess()))
    predictor = version.predictor
    assert isinstance(predictor, SupervisedPredictor)
    response = SupervisedModel.of(predictor, version.report).predict(
        {"x": numbers(far, 0.0), "z": numbers(far, 0.0)}, PredictOptions()
    )
    assert isinstance(response, RegressionPrediction)
    assert np.isfinite(response.mean).all()
    assert response.faults == ()
    assert response.support is not None
    assert response.support[0] < 1e-6 < 0.9 < response.support[1]
