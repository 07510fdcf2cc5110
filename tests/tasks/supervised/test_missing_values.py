"""Rows with missing values: mixtures over training rows, by brute force through public predictions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise, Poisson, StudentT, TargetLikelihood
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import DOCUMENT, document_of, extract_arrays, version_of
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import validate
from relevance_bayes.records.predictions import MissingValue, UnknownCategory
from relevance_bayes.records.reports import Baseline, CategoryHistogram, InputCells, NumberHistogram
from relevance_bayes.records.values import CategoryCount
from relevance_bayes.tables.columns import Block, BooleanArray, NumberArray, TimestampArray, taken
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, Encoding, InputEncoding
from relevance_bayes.tables.encoding.columns import EncodedTarget
from relevance_bayes.tasks.listing import FunctionLocation, places
from relevance_bayes.tasks.prediction import LabelledNumbers, PredictOptions
from relevance_bayes.tasks.supervised import prediction
from relevance_bayes.tasks.supervised.averages import KNOWN, MISSING, AveragedRows, Completion
from relevance_bayes.tasks.supervised.input_rows import InputDistribution, InputRows
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.training import kept_rows
from tests.exports.trained import PROCESS, version
from tests.small_tables import numbers, texts
from tests.tasks.supervised.test_unknown_categories import stacked

INPUTS = (
    EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False),
    EncodedCategory("colour", ("blue", "green", "red"), fill=None, indicator=False),
    EncodedNumber("z", "number", 0.0, 1.0, fill=None, indicator=False),
)
BASIS = (KernelBasis(Gaussian(), FixedWidth(2.0)), Bias())
ROWS = 24
RANDOM = np.random.default_rng(2)
Z = RANDOM.standard_normal(ROWS)
X = 1.0 + 0.4 * Z + 0.3 * RANDOM.standard_normal(ROWS)
COLOURS = [("blue", "green", "red")[place] for place in RANDOM.integers(0, 3, ROWS)]
KEPT = (
    InputCells(name="x", cells=tuple(X.tolist())),
    InputCells(name="colour", cells=tuple(COLOURS)),
    InputCells(name="z", cells=tuple(Z.tolist())),
)
BLOCK: Block = {
    "x": numbers(0.5, None, 1.4, None, None),
    "colour": texts("red", "green", None, None, None),
    "z": numbers(0.3, -0.2, 0.9, -1.1, None),
}
STATES = (
    [KNOWN, KNOWN, KNOWN],
    [MISSING, KNOWN, KNOWN],
    [KNOWN, MISSING, KNOWN],
    [MISSING, MISSING, KNOWN],
    [MISSING, MISSING, MISSING],
)
GAUSSIAN = GaussianNoise()
ERROR = PredictOptions(nulls="error")


def made(likelihood: TargetLikelihood) -> ExportedSupervised:
    found = version(likelihood, BASIS, PROCESS, INPUTS)
    return replace(found, report=replace(found.report, input_rows=KEPT))


def trained(likelihood: TargetLikelihood = GAUSSIAN) -> SupervisedModel:
    found = made(likelihood)
    return SupervisedModel.of(found.predictor, found.report)


def regression(model: SupervisedModel, block: Block, options: PredictOptions = ERROR) -> RegressionPrediction:
    found = model.predict(block, options)
    assert isinstance(found, RegressionPrediction)
    return found


def completed(model: SupervisedModel, row: int) -> tuple[Block, Array]:
    """The rows that a row of BLOCK may be, in the user's units, and their weights."""
    encoded = np.array([[0.0, 0.0, 0.0, 0.0, (0.3, -0.2, 0.9, -1.1, 0.0)[row]]])
    if row == 1:
        encoded[0, 2] = 1.0
    if row == 2:
        encoded[0, 0] = 0.8
    rows, weights = Completion.of(model.distribution, np.array(STATES[row])).rows(encoded)
    colours = [("blue", "green", "red")[place] for place in rows[0, :, 1:4].argmax(axis=1)]
    x, z = numbers(*(rows[0, :, 0] * 0.5 + 1.0)), numbers(*rows[0, :, 4])
    return {"x": x, "colour": texts(*colours), "z": z}, weights[0]


@pytest.mark.thorough
@pytest.mark.parametrize("likelihood", [GaussianNoise(), StudentT(4.0), Poisson()], ids=str)
@pytest.mark.parametrize("row", [1, 2, 3, 4])
def test_moments_are_those_of_the_mixture_over_training_rows(likelihood: TargetLikelihood, row: int) -> None:
    model = trained(likelihood)
    found = regression(model, BLOCK, PredictOptions())
    assert found.faults == ()
    rows, w = completed(model, row)
    each = regression(model, rows)
    mean = w @ each.mean
    assert_allclose(found.mean[row], mean, rtol=1e-9)
    assert_allclose(found.total[row], w @ each.total + w @ (each.mean - mean) ** 2, rtol=1e-8)
    assert_allclose(found.noise[row], w @ each.noise, rtol=1e-9)
    assert_allclose(found.weights[row], w @ each.weights, rtol=1e-9)
    assert_allclose(found.total[row], found.noise[row] + found.weights[row] + found.residual[row], rtol=1e-10)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3)], ids=str)
def test_probabilities_are_averages_over_training_rows(likelihood: TargetLikelihood) -> None:
    model = trained(likelihood)
    found = model.predict(BLOCK, PredictOptions())
    assert isinstance(found, ClassificationPrediction)
    rows, w = completed(model, 3)
    each = model.predict(rows, ERROR)
    assert isinstance(each, ClassificationPrediction)
    assert_allclose(found.probabilities[3], w @ each.probabilities, rtol=1e-9)


def test_with_all_inputs_missing_every_kept_row_has_the_same_weight() -> None:
    model = trained()
    _, w = completed(model, 4)
    assert_array_equal(w, np.full(ROWS, 1.0 / ROWS))
    kept = regression(model, {"x": numbers(*X), "colour": texts(*COLOURS), "z": numbers(*Z)})
    assert_allclose(regression(model, BLOCK, PredictOptions()).mean[4], kept.mean.mean(), rtol=1e-9)


def test_several_missing_values_are_those_of_one_row() -> None:
    model = trained()
    rows, _ = completed(model, 4)
    x, z = rows["x"], rows["z"]
    assert isinstance(x, NumberArray)
    assert isinstance(z, NumberArray)
    assert_allclose(np.corrcoef(x.values, z.values)[0, 1], np.corrcoef(X, Z)[0, 1])


def test_missing_values_are_listed_by_cell_and_refused_by_the_option() -> None:
    found = regression(trained(), BLOCK, PredictOptions())
    cells = [(1, "x"), (2, "colour"), (3, "x"), (3, "colour"), (4, "x"), (4, "colour"), (4, "z")]
    assert found.nulls == tuple(MissingValue(row, column) for row, column in cells)
    assert found.rows_averaged == 4
    refused = regression(trained(), BLOCK)
    assert {(fault.row, fault.column) for fault in refused.faults} == {*cells}
    assert refused.nulls == ()
    assert np.isnan(refused.mean).tolist() == [False, True, True, True, True]
    assert_array_equal(found.mean[0], refused.mean[0])


def test_unknown_categories_and_missing_values_of_a_row_are_averaged_together() -> None:
    block: Block = {"x": numbers(None, None), "colour": texts("mauve", "red"), "z": numbers(0.2, 0.2)}
    found = regression(trained(), block, PredictOptions())
    assert found.faults == ()
    assert found.unknown_categories == (UnknownCategory(0, "colour", "mauve"),)
    assert found.nulls == (MissingValue(0, "x"), MissingValue(1, "x"))
    colours = ("blue", "green", "red")
    known = [regression(trained(), {**block, "colour": texts(one, one)}, PredictOptions()) for one in colours]
    assert min(one.mean[0] for one in known) < found.mean[0] < max(one.mean[0] for one in known)


@pytest.mark.parametrize("options", [PredictOptions(unknown_categories="error"), ERROR], ids=["unknown", "nulls"])
def test_a_row_with_both_is_refused_where_one_of_them_is(options: PredictOptions) -> None:
    block: Block = {"x": numbers(None), "colour": texts("mauve"), "z": numbers(0.2)}
    found = regression(trained(), block, options)
    assert {fault.column for fault in found.faults} == {"x", "colour"}
    assert np.isnan(found.mean[0])


def test_an_input_with_an_indicator_is_predicted_as_learned() -> None:
    inputs = (INPUTS[0], EncodedNumber("z", "number", 0.0, 1.0, fill=0.5, indicator=True))
    found = version(GaussianNoise(), BASIS, PROCESS, inputs)
    model = SupervisedModel.of(found.predictor, found.report)
    prediction = regression(model, {"x": numbers(0.7), "z": numbers(None)}, PredictOptions())
    assert prediction.faults == ()
    assert prediction.nulls == ()
    assert prediction.rows_averaged == 0


def test_a_filled_input_without_an_indicator_is_averaged_too() -> None:
    inputs = (INPUTS[0], EncodedNumber("z", "number", 0.0, 1.0, fill=0.5, indicator=False))
    found = version(GaussianNoise(), BASIS, PROCESS, inputs)
    report = replace(found.report, input_rows=(KEPT[0], KEPT[2]))
    model = SupervisedModel.of(found.predictor, report)
    block: Block = {"x": numbers(0.7, 0.7), "z": numbers(None, 0.5)}
    prediction = regression(model, block, PredictOptions())
    assert prediction.nulls == (MissingValue(0, "z"),)
    assert prediction.sd[0] > prediction.sd[1]


def histograms() -> Baseline:
    x = NumberHistogram(name="x", missing=0, kind="number", min=0.0, max=2.0, edges=(1.0,), counts=(3, 1))
    counts = (CategoryCount("red", 3), CategoryCount("blue", 1))
    colour = CategoryHistogram(name="colour", missing=0, kind="category", categories=counts, other=0)
    return Baseline(rows=4, inputs=(x, colour), target=None, predictions=x)


def test_a_version_without_rows_draws_from_its_histograms() -> None:
    encoding = InputEncoding(INPUTS)
    distribution = InputDistribution(encoding, None, histograms().inputs)
    found = distribution.donors(np.array([True, True, False]), np.zeros(3, np.bool_))
    assert found is not None
    rows, weights = found.completed(np.zeros((1, 5)))
    assert_array_equal(weights, 1.0 / 64)
    x = rows[0, :, 0] * 0.5 + 1.0
    assert_allclose((x <= 1.0).mean(), 0.75, atol=0.02)
    assert (x.min() >= 0.0) & (x.max() <= 2.0)
    assert_array_equal(rows[0, :, 1:4].sum(axis=1), 1.0)
    assert_allclose(rows[0, :, 1:4].mean(axis=0), [0.25, 0.0, 0.75])
    assert abs(np.corrcoef(x, rows[0, :, 1])[0, 1]) < 0.3  # independent of one another


def test_a_standardised_number_without_a_histogram_is_normally_distributed() -> None:
    distribution = InputDistribution(InputEncoding(INPUTS[:1]), None, ())
    found = distribution.donors(np.array([True]), np.array([False]))
    assert found is not None
    rows, _ = found.completed(np.zeros((1, 1)))
    assert_allclose([rows.mean(), np.square(rows).mean()], [0.0, 1.0], atol=1e-9)


def test_a_number_of_which_nothing_is_known_stays_an_error() -> None:
    found = version(GaussianNoise(), BASIS, PROCESS, (INPUTS[0], INPUTS[2]))
    model = SupervisedModel.of(found.predictor, found.report)
    prediction = regression(model, {"x": numbers(0.7), "z": numbers(None)}, PredictOptions())
    assert [fault.detail for fault in prediction.faults] == ["`z` is missing."]


def test_rows_with_gaps_are_no_donors_of_these_values() -> None:
    cells = tuple(None if place < 4 else one for place, one in enumerate(X.tolist()))
    distribution = InputDistribution(InputEncoding(INPUTS), (replace(KEPT[0], cells=cells), *KEPT[1:]), ())
    nothing = np.zeros(3, np.bool_)
    for missing, size in (([True, False, False], ROWS - 4), ([False, True, False], ROWS)):
        found = distribution.donors(np.array(missing), nothing)
        assert found is not None
        assert found.size == size


def test_rows_are_kept_by_content_whatever_their_order() -> None:
    random = np.random.default_rng(8)
    values = random.standard_normal((200, 2))
    encoding = Encoding((INPUTS[0], INPUTS[2]), EncodedTarget("y", "number", 0.0, 1.0, ()))
    table: Block = {"x": numbers(*values[:, 0]), "z": numbers(*values[:, 1]), "y": numbers(*values.sum(axis=1))}
    order = random.permutation(200)
    moved: Block = {name: taken(column, order) for name, column in table.items()}
    kept = kept_rows(table, encoding, seed=0)
    assert kept == kept_rows(moved, encoding, seed=0)
    assert [len(one.cells) for one in kept] == [64, 64]
    assert {one.name for one in kept} == {"x", "z"}


def test_one_row_is_kept_of_each_of_as_many_equal_parts_by_the_target() -> None:
    values = np.random.default_rng(5).permutation(np.arange(256.0))
    encoding = Encoding(INPUTS[:1], EncodedTarget("y", "number", 0.0, 1.0, ()))
    (kept,) = kept_rows({"x": numbers(*values), "y": numbers(*(values**3))}, encoding, seed=0)
    cells = np.array(kept.cells, np.float64)
    assert_array_equal(np.sort(cells // 4.0), np.arange(64.0))
    assert len(np.unique(cells % 4.0)) == 4
    assert (np.diff(cells) < 0.0).any()  # in random order, so that columns drawn in turn are not ordered alike


def test_copies_are_kept_as_often_as_they_are_in_the_table() -> None:
    table: Block = {"x": numbers(*([1.0] * 300 + [2.0] * 100)), "y": numbers(*[0.0] * 400)}
    encoding = Encoding(INPUTS[:1], EncodedTarget("y", "number", 0.0, 1.0, ()))
    cells = kept_rows(table, encoding, seed=0)[0].cells
    assert 0.6 < cells.count(1.0) / len(cells) < 0.9


def test_kept_values_of_every_kind_are_read_as_they_were() -> None:
    kinds: tuple[Literal["boolean", "timestamp", "number"], ...] = ("boolean", "timestamp", "number")
    columns = tuple(EncodedNumber(kind, kind, 0.0, 1.0, fill=None, indicator=False) for kind in kinds)
    encoding = Encoding((*columns, INPUTS[1]), EncodedTarget("y", "number", 0.0, 1.0, ()))
    table: Block = {
        "boolean": BooleanArray(np.array([1, 0, -1] * 10, np.int8)),
        "timestamp": TimestampArray(np.array([1.7e9, np.nan, 1.7e9 + 0.25] * 10)),
        "number": numbers(*[0.1, 1 / 3, 2.0] * 10),
        "colour": texts(*["red", "blue", None] * 10),
        "y": numbers(*range(30)),
    }
    kept = kept_rows(table, encoding, seed=0)
    assert {one.name: set(one.cells) for one in kept} == {
        "boolean": {True, False, None},
        "timestamp": {"2023-11-14T22:13:20Z", None, "2023-11-14T22:13:20.25Z"},
        "number": {0.1, 1 / 3, 2.0},
        "colour": {"red", "blue", None},
    }
    rows = InputRows.of_kept(encoding, kept)
    present = {(True, True, 1.0, 1.7e9, 0.1), (True, False, 0.0, 0.0, 1 / 3), (False, True, 0.0, 1.7e9 + 0.25, 2.0)}
    found = [*zip(rows.present[:, :2].tolist(), rows.inputs[:, :3].tolist(), strict=True)]
    assert {(*has, *(x if ok else 0.0 for x, ok in zip(xs, (*has, True), strict=True))) for has, xs in found} == present


def test_kept_rows_are_a_part_of_the_document() -> None:
    content, arrays = extract_arrays(document_of(made(GaussianNoise())))
    found = version_of(validate(DOCUMENT, content, arrays=arrays))
    assert isinstance(found, ExportedSupervised)
    assert found.report.input_rows == KEPT
    bare = version(GaussianNoise(), BASIS, PROCESS, INPUTS)
    assert document_of(bare).report["input_rows"] is None


def contributions(model: SupervisedModel, block: Block) -> Array:
    """The contributions (N, R) to the rows of all functions, in the order of the functions."""
    found = model.predict(block, PredictOptions(explain=1_000)).explanation
    assert found is not None
    return np.take_along_axis(found.added, np.argsort(found.functions, axis=1), axis=1)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Poisson(), Bernoulli()], ids=str)
def test_contributions_are_the_averages_of_those_to_the_rows_that_a_row_may_be(likelihood: TargetLikelihood) -> None:
    model = trained(likelihood)
    found = contributions(model, BLOCK)
    for row in (1, 2, 3, 4):
        rows, w = completed(model, row)
        assert_allclose(found[row], w @ contributions(model, rows), rtol=1e-9, atol=1e-12)


def test_contributions_to_such_a_row_add_to_the_mean_of_the_mixture() -> None:
    found = regression(trained(), BLOCK, PredictOptions(explain=2))
    assert found.faults == ()
    assert found.explanation is not None
    sums = found.explanation.baseline + found.explanation.added.sum(axis=1) + found.explanation.others
    assert_allclose(sums, found.mean, rtol=1e-12)
    assert_allclose(found.explanation.mean, found.mean, rtol=1e-9)


def test_of_several_latents_that_of_the_most_probable_class_is_explained() -> None:
    model = trained(Categorical(3))
    found = model.predict(BLOCK, PredictOptions(explain=2))
    assert isinstance(found, ClassificationPrediction)
    assert found.explanation is not None
    latents = found.latent_mean[np.arange(5), found.most_probable]
    assert_allclose(found.explanation.mean, latents, rtol=1e-9)


def kernel_functions(functions: KernelFunctions, _: Indices) -> Iterator[FunctionLocation]:
    yield from (FunctionLocation("gaussian") for _ in range(functions.size))


def test_a_missing_input_has_a_contribution_of_its_own_where_inputs_are_functions() -> None:
    found = version(GAUSSIAN, (KernelBasis(Gaussian(), FixedWidth(2.0)), Inputs(), Bias()), PROCESS, INPUTS)
    model = SupervisedModel.of(found.predictor, replace(found.report, input_rows=KEPT))
    functions = [*places(model.predictor.learned, model.predictor.encoding, kernel_functions)]
    linear = [one.input for one in functions].index("x")
    row: Block = {"x": numbers(None), "colour": texts("green"), "z": numbers(-0.2)}
    rows, w = completed(model, 1)
    values = rows["x"]
    assert isinstance(values, NumberArray)
    slope = contributions(model, rows)[:, linear] / (values.values - 1.0)
    assert_allclose(contributions(model, row)[0, linear], slope[0] * (w @ (values.values - 1.0)), rtol=1e-6)


def test_covariances_are_the_averages_over_all_that_both_rows_may_be() -> None:
    model = trained()
    options = PredictOptions(covariance=True)
    found = regression(model, BLOCK, options)
    covariance = found.covariance
    assert covariance is not None
    assert_allclose(covariance.diagonal(), found.total, rtol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    for one, other in ((1, 2), (1, 3), (2, 4), (3, 4)):
        (rows, w), (others, v) = completed(model, one), completed(model, other)
        both = {name: stacked(rows[name], others[name]) for name in BLOCK}
        each = regression(model, both, options).covariance
        assert each is not None
        assert_allclose(covariance[one, other], w @ each[: len(w), len(w) :] @ v, rtol=1e-8, atol=1e-12)


def test_few_of_such_rows_have_a_covariance_whatever_the_sizes_of_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, options = trained(), PredictOptions(covariance=True)
    whole = regression(model, BLOCK, options).covariance
    monkeypatch.setattr(prediction, "COMPLETED_AT_ONCE", 1)
    parts = regression(model, BLOCK, options).covariance
    assert whole is not None
    assert parts is not None
    assert_allclose(parts, whole, rtol=1e-9)
    alone = {name: taken(column, np.array([1, 3])) for name, column in BLOCK.items()}
    without = regression(model, alone, options).covariance
    assert without is not None
    assert_allclose(without, whole[np.ix_([1, 3], [1, 3])], rtol=1e-9)
    monkeypatch.setattr(prediction, "MAX_AVERAGED_TOGETHER", 3)
    with pytest.raises(InvalidRequestError, match="at most 3 rows with missing values or unknown categories"):
        regression(model, BLOCK, options)


def test_evaluations_and_outcomes_take_the_log_density_of_the_mixture() -> None:
    model = trained(Poisson())
    block: Block = {**BLOCK, "y": numbers(2.0, 1.0, 0.0, 3.0, 2.0)}
    labelled = model.evaluate_block(block)
    assert (labelled.not_predicted, labelled.without_target) == (0, 0)
    parts = [part for part in labelled.labelled if isinstance(part, LabelledNumbers)]
    densities = np.empty(5)
    densities[labelled.places] = np.concatenate([part.log_density for part in parts])
    for row, y in ((1, 1.0), (2, 0.0), (3, 3.0), (4, 2.0)):
        rows, w = completed(model, row)
        found = model.evaluate_block({**rows, "y": numbers(*[y] * len(w))})
        (each,) = (part for part in found.labelled if isinstance(part, LabelledNumbers))
        assert_allclose(densities[row], np.log(w @ np.exp(each.log_density)), rtol=1e-9)
    scored = model.score_block(block)
    assert scored.chosen.all()
    assert_allclose(scored.log_score, densities, rtol=1e-12)


def test_rows_of_a_block_are_chosen_by_their_places() -> None:
    model = trained()
    averaged = AveragedRows.of(model.distribution, BLOCK, regression(model, BLOCK).faults, None)
    assert averaged is not None
    assert sorted(averaged.places.tolist()) == [1, 2, 3, 4]
    assert averaged.of_rows(np.array([False, True, False, False, True])).places.tolist() == [1, 4]
