"""Rows with texts of unknown effects: mixtures over effects, by brute force through public predictions."""

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Categorical, GaussianNoise
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.records.predictions import UnknownCategory
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray, taken
from relevance_bayes.tables.encoding import EncodedCategory, EncodedEffects, EncodedInput, EncodedNumber
from relevance_bayes.tasks.prediction import LabelledNumbers, PredictOptions
from relevance_bayes.tasks.supervised.averages import MAX_COMBINATIONS, combinations
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.union import plan
from tests.exports.trained import PROCESS, version
from tests.library.tasks.supervised.test_derived_columns import version as learned_version
from tests.small_tables import dataset_of, numbers, texts

SHOPS = ("north", "south", "west")
EFFECTS = (-1.3, 0.2, 1.1)
CLASS_EFFECTS = (EFFECTS, (0.9, -1.2, 0.4), (0.0, 0.0, 0.0))
X = EncodedNumber("x", "number", 1.0, 0.5, fill=None, indicator=False)
COLOUR = EncodedCategory("colour", ("blue", "red"), fill=None, indicator=False)
SHOP = EncodedEffects("shop", SHOPS, (EFFECTS,), fill=None, indicator=False)
BASIS = (KernelBasis(Gaussian(), FixedWidth(2.0)), Bias())
ERROR = PredictOptions(unknown_categories="error")
ROWS: Block = {
    "x": numbers(0.5, 1.4, 0.8),
    "colour": texts("red", "blue", "pink"),
    "shop": texts("west", "new", "newer"),
}


def model_of(made: ExportedSupervised) -> SupervisedModel:
    return SupervisedModel.of(made.predictor, made.report)


def of_numbers(model: SupervisedModel, block: Block, options: PredictOptions = ERROR) -> RegressionPrediction:
    found = model.predict(block, options)
    assert isinstance(found, RegressionPrediction)
    return found


def normal_effects() -> Array:
    """As many equally likely standard normal numbers as an effect is averaged over."""
    levels = (np.arange(MAX_COMBINATIONS) + 0.5) / MAX_COMBINATIONS
    found = np.array([NormalDist().inv_cdf(level) for level in levels.tolist()])
    return np.asarray(found / np.sqrt(np.mean(found**2)))


def with_effects(model: SupervisedModel, effects: tuple[tuple[float, ...], ...]) -> SupervisedModel:
    """The same model with texts 0, 1, ... that have these effects."""
    known = tuple(str(place) for place in range(len(effects[0])))
    inputs: tuple[EncodedInput, ...] = tuple(
        replace(one, categories=known, effects=effects) if isinstance(one, EncodedEffects) else one
        for one in model.predictor.encoding.inputs
    )
    predictor = replace(model.predictor, encoding=replace(model.predictor.encoding, inputs=inputs))
    return replace(model, predictor=predictor)


def test_a_number_is_the_mixture_over_normal_effects() -> None:
    model = model_of(version(GaussianNoise(), BASIS, PROCESS, (X, COLOUR, SHOP)))
    found = of_numbers(model, ROWS, PredictOptions())
    assert found.faults == ()
    effects = normal_effects()
    each_of = with_effects(model, (tuple(effects.tolist()),))
    rows = {name: taken(column, np.ones(len(effects), np.intp)) for name, column in ROWS.items()}
    each = of_numbers(each_of, {**rows, "shop": texts(*map(str, range(len(effects))))})
    assert_allclose(found.mean[1], each.mean.mean(), rtol=1e-10)
    assert_allclose(found.total[1], each.total.mean() + each.mean.var(), rtol=1e-8)
    assert each.mean.var() > 1e-3 * each.total.mean()
    middle = of_numbers(with_effects(model, ((0.0,),)), {**taken_of(1), "shop": texts("0")})
    assert found.upper[1] - found.lower[1] > middle.upper[0] - middle.lower[0]


def taken_of(row: int) -> Block:
    return {name: taken(column, np.array([row])) for name, column in ROWS.items()}


def test_rows_are_listed_by_cell_and_the_others_are_the_same_to_the_bit() -> None:
    model = model_of(version(GaussianNoise(), BASIS, PROCESS, (X, COLOUR, SHOP)))
    found, refused = of_numbers(model, ROWS, PredictOptions()), of_numbers(model, ROWS)
    assert found.rows_averaged == 2
    assert found.unknown_categories == (
        UnknownCategory(1, "shop", "new"),
        UnknownCategory(2, "colour", "pink"),
        UnknownCategory(2, "shop", "newer"),
    )
    assert [(fault.row, fault.column) for fault in refused.faults] == [(1, "shop"), (2, "colour"), (2, "shop")]
    assert np.isnan(refused.mean).tolist() == [False, True, True]
    for name, array in refused.figures.items():
        assert_array_equal(found.figures[name][0], array[0])
    assert np.isfinite(found.mean).all()


def test_a_missing_text_has_the_mean_effect_and_is_not_averaged() -> None:
    model = model_of(version(GaussianNoise(), BASIS, PROCESS, (X, replace(SHOP, fill=0.0))))
    found = of_numbers(model, {"x": numbers(0.5, 0.5), "shop": texts(None, "new")}, PredictOptions())
    assert [cell.row for cell in found.unknown_categories] == [1]
    assert found.total[1] > found.total[0]


def test_probabilities_are_averages_over_effects_on_each_class() -> None:
    """Correlated as those of the known texts are; without an effect on a class where no text has one."""
    model = model_of(version(Categorical(3), BASIS, PROCESS, (X, replace(SHOP, effects=CLASS_EFFECTS))))
    block: Block = {"x": numbers(0.7), "shop": texts("new")}
    found = model.predict(block, PredictOptions())
    assert isinstance(found, ClassificationPrediction)
    (shop,) = [one for one in model.predictor.encoding.inputs if isinstance(one, EncodedEffects)]
    added, weights = combinations([], 4, [(1, shop.spread)])
    assert_array_equal(added[:, [0, 3]], 0.0)
    assert_allclose(added[:, 1:3].T @ added[:, 1:3] / len(added), correlations(), atol=0.1)
    each_of = with_effects(model, tuple(tuple(column) for column in added[:, 1:].T.tolist()))
    each = each_of.predict(
        {"x": numbers(*[0.7] * len(added)), "shop": texts(*map(str, range(len(added))))}, PredictOptions()
    )
    assert isinstance(each, ClassificationPrediction)
    assert_allclose(found.probabilities[0], weights @ each.probabilities, rtol=1e-10)
    assert np.ptp(each.probabilities, axis=0).max() > 0.01


def correlations() -> Array:
    """Those of the known effects on the first two classes, about 0."""
    known = np.array(CLASS_EFFECTS[:2])
    sizes = np.sqrt(np.square(known).sum(axis=1))
    return np.asarray(known @ known.T / np.outer(sizes, sizes))


@pytest.mark.thorough
@pytest.mark.parametrize("between", [1.0, 3.0])
def test_intervals_cover_the_rows_of_new_texts(tmp_path: Path, between: float) -> None:
    """By an independent draw of new shops; intervals of known ones cover fewer."""
    block = sales(300, 60, between=between, seed=5)
    dataset = dataset_of(block)
    made = plan(SupervisedRequest(dataset.id, "y", effort="quick", text="target"), dataset)
    learned = learned_version(block, tmp_path, made)
    model = SupervisedModel.of(learned.predictor, learned.report)
    later = sales(1_000, 1_000, between=between, seed=6, names="new shop")
    found, y = of_numbers(model, later, PredictOptions()), later["y"]
    assert isinstance(y, NumberArray)
    assert found.rows_averaged == 1_000
    covered = (found.lower <= y.values) & (y.values <= found.upper)
    assert 0.9 < covered.mean() < 0.99
    known = of_numbers(model, {**later, "shop": texts(*["shop 0"] * 1_000)})
    narrow = np.abs(y.values - found.mean) <= 0.5 * (known.upper - known.lower)
    assert narrow.mean() < covered.mean() - 0.1
    scored = [one for one in model.evaluate_block(later).labelled if isinstance(one, LabelledNumbers)]
    log_density = np.concatenate([one.log_density for one in scored])
    assert len(log_density) == 1_000
    truth = NormalDist(0.0, float(np.hypot(between, 0.5)))
    best = np.mean([np.log(truth.pdf(float(value) - 10.0)) for value in y.values])
    assert best - 0.2 < log_density.mean() < best + 0.05


def sales(rows: int, shops: int, *, between: float, seed: int, names: str = "shop") -> Block:
    """Numbers with the sd 0.5 about the mean of their shop, of which there are so many."""
    rng = np.random.default_rng(seed)
    codes = (rng.permutation(rows) % shops).astype(np.int32)
    y = 10.0 + rng.normal(0.0, between, shops)[codes] + rng.normal(0.0, 0.5, rows)
    shop = CategoryArray(codes, tuple(f"{names} {place}" for place in range(shops)))
    return {"shop": shop, "y": NumberArray(y)}
