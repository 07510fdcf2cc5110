"""Rows with unknown categories: mixtures over the known ones, by brute force through public predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations as combinations_of
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from app.prediction import PredictRequest, evaluate_block, predict
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    GaussianNoise,
    TargetLikelihood,
)
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.records.predictions import DecisionOptions, UnknownCategory
from relevance_bayes.records.reports import Baseline, CategoryHistogram, Histogram, NumberHistogram
from relevance_bayes.records.values import CategoryCount
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray, taken
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, InputEncoding
from relevance_bayes.tasks.prediction import LabelledNumbers, PredictOptions
from relevance_bayes.tasks.supervised import averages, prediction
from relevance_bayes.tasks.supervised.averages import MAX_COMBINATIONS, combinations
from relevance_bayes.tasks.supervised.input_rows import InputDistribution
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from tests.exports.trained import LIKELIHOODS, PROCESS, version
from tests.served_versions import served
from tests.small_models import small_version
from tests.small_tables import numbers, texts

COLOURS = {"blue": 0.1, "green": 0.3, "red": 0.6}
SIZES = {"large": 0.5, "small": 0.5}
INPUTS = (
    EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False),
    EncodedCategory("colour", tuple(COLOURS), fill=None, indicator=False),
    EncodedCategory("size", tuple(SIZES), fill=None, indicator=False),
    EncodedNumber("z", "number", 0.0, 1.0, fill=None, indicator=False),
)
BASIS = (KernelBasis(Gaussian(), FixedWidth(2.0)), Bias())
NUMBERS = [one for one in LIKELIHOODS if one.targets != "class" and not getattr(one, "classes", 0)]
ERROR = PredictOptions(unknown_categories="error")
MIXED: Block = {
    "x": numbers(0.5, 1.0, 1.4, 0.8),
    "colour": texts("red", "pink", "blue", "mauve"),
    "size": texts("small", "large", "huge", "tiny"),
    "z": numbers(0.3, -0.2, 0.9, -1.1),
}
KNOWN_OF_ROW = (
    [("red", "small", 1.0)],
    [(colour, "large", share) for colour, share in COLOURS.items()],
    [("blue", size, share) for size, share in SIZES.items()],
    [(colour, size, a * b) for (colour, a), (size, b) in product(COLOURS.items(), SIZES.items())],
)


def frequencies(encoding: InputEncoding, histograms: Sequence[Histogram]) -> Mapping[str, Array]:
    return InputDistribution(encoding, None, tuple(histograms)).frequencies


def model_of(made: ExportedSupervised) -> SupervisedModel:
    return SupervisedModel.of(made.predictor, made.report)


def trained(likelihood: TargetLikelihood) -> SupervisedModel:
    made = version(likelihood, BASIS, PROCESS, INPUTS)
    return model_of(replace(made, report=replace(made.report, baseline=baseline(COLOURS))))


def baseline(shares: Mapping[str, float], other: int = 0) -> Baseline:
    """The histograms of a column `colour` with these shares of 10 rows, and of predictions."""
    counts = tuple(CategoryCount(label, round(10 * share)) for label, share in shares.items())
    colours = CategoryHistogram(name="colour", missing=0, kind="category", categories=counts, other=other)
    predictions = NumberHistogram(name="mean", missing=0, kind="number", min=0.0, max=0.0, edges=(), counts=(10,))
    return Baseline(rows=10, inputs=(colours,), target=None, predictions=predictions)


def of_numbers(model: SupervisedModel, block: Block, options: PredictOptions = ERROR) -> RegressionPrediction:
    found = model.predict(block, options)
    assert isinstance(found, RegressionPrediction)
    return found


def of_classes(model: SupervisedModel, block: Block, options: PredictOptions = ERROR) -> ClassificationPrediction:
    found = model.predict(block, options)
    assert isinstance(found, ClassificationPrediction)
    return found


def expanded(row: int) -> tuple[Block, Array]:
    """The row with each combination of known categories, and their weights (C,)."""
    known = KNOWN_OF_ROW[row]
    block: Block = {name: taken(column, np.full(len(known), row)) for name, column in MIXED.items()}
    colours, sizes, weights = zip(*known, strict=True)
    return {**block, "colour": texts(*colours), "size": texts(*sizes)}, np.array(weights)


def stacked(one: Column, other: Column) -> Column:
    """The rows of two columns, one after the other."""
    if isinstance(one, CategoryArray):
        assert isinstance(other, CategoryArray)
        labels = [column.labels[code] for column in (one, other) for code in column.codes.tolist()]
        return texts(*labels)
    assert isinstance(one, NumberArray)
    assert isinstance(other, NumberArray)
    return numbers(*one.values, *other.values)


@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
def test_the_moments_of_a_number_are_those_of_the_mixture_over_known_categories(likelihood: TargetLikelihood) -> None:
    model = trained(likelihood)
    found = of_numbers(model, MIXED, PredictOptions())
    assert found.faults == ()
    for row in range(4):
        rows, w = expanded(row)
        each = of_numbers(model, rows)
        mean = w @ each.mean
        between = w @ (each.mean - mean) ** 2
        assert_allclose(found.mean[row], mean, rtol=1e-10)
        assert_allclose(found.total[row], w @ each.total + between, rtol=1e-8)
        assert_allclose(found.sd[row] ** 2, found.total[row], rtol=1e-10)
        assert_allclose(found.noise[row], w @ each.noise, rtol=1e-10)
        assert_allclose(found.weights[row], w @ each.weights, rtol=1e-10)
        assert_allclose(found.total[row], found.noise[row] + found.weights[row] + found.residual[row], rtol=1e-10)
        assert between == 0.0 or row > 0
        # A model may have found that counts do not depend on the inputs.
        assert found.total[row] > w @ each.total or np.ptp(each.mean) < 1e-6 * found.sd[row]
        if each.support is not None:
            assert found.support is not None
            assert_allclose(found.support[row], w @ each.support, rtol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
def test_ends_of_intervals_are_quantiles_of_the_mixture(likelihood: TargetLikelihood) -> None:
    """The quantiles of the known categories, as many as their weights, are a sample of the mixture."""
    model = trained(likelihood)
    found = of_numbers(model, MIXED, PredictOptions(0.8))
    levels = (np.arange(200) + 0.5) / 200
    for row in range(4):
        rows, w = expanded(row)
        ends = [of_numbers(model, rows, replace(ERROR, interval=float(level))) for level in levels[::-1]]
        sample = np.array([*(one.lower for one in ends), *(one.upper for one in ends)])
        order = np.argsort(sample, axis=None)
        reached = np.cumsum(np.tile(w / len(sample), len(sample))[order])
        lower, upper = (sample.ravel()[order][np.searchsorted(reached, p)] for p in (0.1, 0.9))
        near = 0.02 * found.sd[row] + (1.0 if likelihood.targets == "count" else 0.0)
        assert_allclose([found.lower[row], found.upper[row]], [lower, upper], atol=near)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3), BernoulliPerClass(3)], ids=str)
def test_probabilities_are_averages_and_latents_have_the_variance_between_categories(
    likelihood: TargetLikelihood,
) -> None:
    model = trained(likelihood)
    found = of_classes(model, MIXED, PredictOptions())
    for row in range(4):
        rows, w = expanded(row)
        each = of_classes(model, rows)
        assert_allclose(found.probabilities[row], w @ each.probabilities, rtol=1e-10)
        mean = w @ each.latent_mean
        assert_allclose(found.latent_mean[row], mean, rtol=1e-10)
        between = np.asarray(w @ (each.latent_mean - mean) ** 2)
        if found.latent_variance.ndim == 1:
            between = between.mean()
        assert_allclose(found.latent_variance[row], w @ each.latent_variance + between, rtol=1e-10)


def test_decisions_follow_from_the_averaged_probabilities() -> None:
    model = trained(Bernoulli())
    deciding = DecisionOptions(costs=((0.0, 1.0), (5.0, 0.0)))
    found = of_classes(model, MIXED, PredictOptions(deciding=deciding))
    assert found.decisions is not None
    costs = found.probabilities @ np.array([[0.0, 1.0], [5.0, 0.0]])
    assert_array_equal(found.decisions.chosen, costs.argmin(axis=1))
    assert_allclose(found.decisions.expected_cost, costs.min(axis=1))


def test_the_interval_is_wider_by_the_differences_between_categories() -> None:
    model = trained(GaussianNoise())
    found = of_numbers(model, MIXED, PredictOptions())
    rows, w = expanded(1)
    each = of_numbers(model, rows)
    assert np.ptp(each.mean) > 0.1
    assert found.upper[1] - found.lower[1] > w @ (each.upper - each.lower)
    assert each.lower.min() < found.lower[1] < found.upper[1] < each.upper.max()


def test_the_row_of_a_column_with_one_category_is_that_of_this_category() -> None:
    only = EncodedCategory("colour", ("red",), fill=None, indicator=False)
    model = model_of(version(GaussianNoise(), BASIS, PROCESS, (INPUTS[0], only)))
    x = numbers(0.3, 1.7)
    known = of_numbers(model, {"x": x, "colour": texts("red", "red")})
    found = of_numbers(model, {"x": x, "colour": texts("pink", "mauve")}, PredictOptions())
    for name, array in known.figures.items():
        assert_allclose(found.figures[name], array, rtol=1e-12)


def test_rows_with_unknown_categories_are_listed_by_cell() -> None:
    model = trained(GaussianNoise())
    assert of_numbers(model, MIXED, PredictOptions()).unknown_categories == (
        UnknownCategory(1, "colour", "pink"),
        UnknownCategory(2, "size", "huge"),
        UnknownCategory(3, "colour", "mauve"),
        UnknownCategory(3, "size", "tiny"),
    )
    known = {name: taken(column, np.array([0])) for name, column in MIXED.items()}
    assert of_numbers(model, known, PredictOptions()).unknown_categories == ()


def test_the_error_option_refuses_each_of_these_cells() -> None:
    found = of_numbers(trained(GaussianNoise()), MIXED)
    assert [(fault.row, fault.column) for fault in found.faults] == [
        (1, "colour"),
        (2, "size"),
        (3, "colour"),
        (3, "size"),
    ]
    assert np.isnan(found.mean).tolist() == [False, True, True, True]
    assert found.unknown_categories == ()


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise("rows"), Categorical(3)], ids=str)
def test_the_predictions_of_the_other_rows_are_the_same_to_the_bit(likelihood: TargetLikelihood) -> None:
    model = trained(likelihood)
    one, three = ({name: taken(column, np.zeros(n, np.intp)) for name, column in MIXED.items()} for n in (1, 3))
    for block, rows in ((MIXED, [0]), (three, [0, 1, 2]), (one, [0])):
        found, refused = model.predict(block, PredictOptions()), model.predict(block, ERROR)
        for name, array in refused.arrays().items():
            if isinstance(array, np.ndarray):
                ours = found.arrays()[name]
                assert isinstance(ours, np.ndarray)
                assert_array_equal(ours[rows], array[rows])


def test_a_row_with_another_fault_stays_faulty_with_all_of_them() -> None:
    block: Block = {**MIXED, "x": numbers(0.5, 1e300, 1.4, 0.8)}
    found = of_numbers(trained(GaussianNoise()), block, PredictOptions())
    assert [(fault.row, fault.column) for fault in found.faults] == [(1, "x"), (1, "colour")]
    assert np.isnan(found.mean).tolist() == [False, True, False, False]
    assert {cell.row for cell in found.unknown_categories} == {2, 3}


def test_known_noise_belongs_to_its_row() -> None:
    model = trained(GaussianNoise("rows"))
    found = of_numbers(model, {**MIXED, "sd": numbers(0.1, 0.2, 0.3, 0.4)}, PredictOptions())
    assert_allclose(found.noise, np.square([0.1, 0.2, 0.3, 0.4]))
    wrong = of_numbers(model, {**MIXED, "sd": numbers(0.1, -0.2, 0.3, 0.4)}, PredictOptions())
    assert {fault.column for fault in wrong.faults if fault.row == 1} == {"sd", "colour"}
    assert np.isnan(wrong.mean).tolist() == [False, True, False, False]


def contributions(model: SupervisedModel, block: Block) -> Array:
    """The contributions (N, R) to the rows of all functions, in the order of the functions."""
    found = of_numbers(model, block, PredictOptions(explain=1_000)).explanation
    assert found is not None
    return np.take_along_axis(found.added, np.argsort(found.functions, axis=1), axis=1)


def test_contributions_to_a_row_are_the_averages_of_those_to_the_rows_that_it_may_be() -> None:
    model = trained(GaussianNoise())
    found, each = of_numbers(model, MIXED, PredictOptions(explain=2)), contributions(model, MIXED)
    assert found.faults == ()
    assert found.explanation is not None
    for row in range(4):
        rows, w = expanded(row)
        assert_allclose(each[row], w @ contributions(model, rows), rtol=1e-9, atol=1e-12)
    sums = found.explanation.baseline + found.explanation.added.sum(axis=1) + found.explanation.others
    assert_allclose(sums, found.mean, rtol=1e-12)
    assert_allclose(found.explanation.mean, found.mean, rtol=1e-9)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise("rows")], ids=str)
def test_covariances_of_rows_are_the_averages_over_all_that_both_may_be(likelihood: TargetLikelihood) -> None:
    model = trained(likelihood)
    noise: Block = {"sd": numbers(0.1, 0.2, 0.3, 0.4)} if likelihood.noise_by_row else {}
    options = PredictOptions(covariance=True)
    found = of_numbers(model, {**MIXED, **noise}, options)
    covariance = found.covariance
    assert covariance is not None
    assert_allclose(covariance.diagonal(), found.total, rtol=1e-12)
    assert_allclose(covariance, covariance.T, rtol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    for one, other in combinations_of(range(4), 2):
        (rows, w), (others, v) = expanded(one), expanded(other)
        both: Block = {name: stacked(rows[name], others[name]) for name in MIXED}
        known = {"sd": numbers(*[0.1] * (len(w) + len(v)))} if likelihood.noise_by_row else {}
        each = of_numbers(model, {**both, **known}, options).covariance
        assert each is not None
        assert_allclose(covariance[one, other], w @ each[: len(w), len(w) :] @ v, rtol=1e-8, atol=1e-12)


def test_parts_of_many_rows_are_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(GaussianNoise())
    rows = np.arange(40) % 4
    block = {name: taken(column, rows) for name, column in MIXED.items()}
    monkeypatch.setattr(prediction, "ROWS_AT_ONCE", 7)
    few, many = of_numbers(model, MIXED, PredictOptions()), of_numbers(model, block, PredictOptions())
    for name, array in few.figures.items():
        assert_allclose(many.figures[name], array[rows], rtol=1e-12)


def test_the_list_of_cells_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averages, "MAX_LISTED", 3)
    found = of_numbers(trained(GaussianNoise()), MIXED, PredictOptions())
    assert [cell.row for cell in found.unknown_categories] == [1, 2, 3]


def test_frequencies_are_the_counts_of_the_baseline() -> None:
    encoding = InputEncoding(INPUTS)
    found = frequencies(encoding, baseline(COLOURS).inputs)
    assert {name: each.tolist() for name, each in found.items()} == {"colour": [0.1, 0.3, 0.6], "size": [0.5, 0.5]}


def test_rows_of_categories_that_the_baseline_does_not_list_are_shared_equally() -> None:
    found = frequencies(InputEncoding(INPUTS), baseline({"green": 0.4}, other=6).inputs)
    assert_allclose(found["colour"], [0.3, 0.4, 0.3])


def test_frequencies_are_equal_without_a_baseline_and_without_rows_in_it() -> None:
    encoding = InputEncoding(INPUTS)
    for each in ((), baseline({"green": 0.0}).inputs):
        assert_allclose(frequencies(encoding, each)["colour"], 1.0 / 3.0)


def test_few_combinations_have_the_products_of_frequencies() -> None:
    added, weights = combinations([(1, np.array([*COLOURS.values()])), (4, np.array([*SIZES.values()]))], 7)
    assert added.shape == (6, 7)
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(weights @ added, [0.0, *COLOURS.values(), *SIZES.values(), 0.0], rtol=1e-12)
    assert_array_equal(added.sum(axis=1), 2.0)


def test_a_category_without_training_rows_has_no_part() -> None:
    added, weights = combinations([(0, np.array([0.5, 0.0, 0.5]))], 3)
    assert_array_equal(weights @ added, [0.5, 0.0, 0.5])
    assert len(weights) == 2


def test_many_combinations_are_drawn_with_the_frequencies_of_each_column() -> None:
    shares = np.random.default_rng(3).dirichlet(np.ones(30), size=3)
    columns = [(30 * n, each) for n, each in enumerate(shares)]
    added, weights = combinations(columns, 90)
    assert len(weights) == MAX_COMBINATIONS
    assert_array_equal(added.sum(axis=1), 3.0)
    assert np.abs(weights @ added - shares.ravel()).max() <= 1.0 / MAX_COMBINATIONS
    codes = added.reshape(-1, 3, 30).argmax(axis=2)
    assert np.abs(np.corrcoef(codes.T) - np.eye(3)).max() < 0.35
    again, _ = combinations(columns, 90)
    assert_array_equal(added, again)


def test_evaluation_takes_the_log_density_of_the_mixture() -> None:
    made = served(small_version())
    block: Block = {"x": numbers(0.5, 1.5, 2.0), "colour": texts("red", "green", "blue"), "y": numbers(11.0, 9.0, 8.0)}
    found = evaluate_block(made, block)
    assert (found.not_predicted, found.chosen.tolist()) == (0, [True, True, True])
    assert sorted(found.places.tolist()) == [0, 1, 2]
    parts = [part for part in found.labelled if isinstance(part, LabelledNumbers)]
    densities = np.empty(3)
    densities[found.places] = np.concatenate([part.log_density for part in parts])
    both: Block = {"x": numbers(1.5, 1.5), "colour": texts("red", "blue"), "y": numbers(9.0, 9.0)}
    (each,) = evaluate_block(made, both).labelled
    assert isinstance(each, LabelledNumbers)
    assert_allclose(densities[1], np.log(np.exp(each.log_density).mean()), rtol=1e-10)
    found_mean = predict(made, PredictRequest(block))
    assert isinstance(found_mean, RegressionPrediction)
    means = np.empty(3)
    means[found.places] = np.concatenate([part.mean for part in parts])
    assert_allclose(means, found_mean.mean, rtol=1e-12)


def test_rows_without_a_target_are_not_evaluated() -> None:
    block: Block = {"x": numbers(0.5, 1.5), "colour": texts("green", "green"), "y": numbers(None, 9.0)}
    found = evaluate_block(served(small_version()), block)
    assert (found.without_target, found.places.tolist(), found.chosen.tolist()) == (1, [1], [False, True])
