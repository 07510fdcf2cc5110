import numpy as np
import pytest

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import CategoryArray
from relevance_bayes.tables.encoding import EncodedEffects, InputEncoding, column_names, encode_inputs
from relevance_bayes.tables.encoding import columns as effects
from relevance_bayes.tables.encoding.columns import FOLDS, EffectStatistics, encoded_effects, shrunken_effects

RNG = np.random.default_rng(11)
SIZES = np.array([1, 2, 3, 5, 8, 13, 21, 30])
CODES = np.repeat(np.arange(len(SIZES)), SIZES).astype(np.int32)
EFFECTS = RNG.normal(0.0, 2.0, len(SIZES))
Y = 1e6 + EFFECTS[CODES] + RNG.normal(0.0, 1.0, len(CODES))
LABELS = tuple("abcdefgh")


def statistics(y: Array, folds: Indices) -> EffectStatistics:
    found = EffectStatistics(1)
    for rows in np.array_split(RNG.permutation(len(y)), 4):
        found.add(CategoryArray(CODES[rows], LABELS), y[rows, None], folds[rows])
    return found


def test_effects_are_the_best_linear_unbiased_predictions_of_a_random_effects_model() -> None:
    """The mixed model equations with the variances of the analysis of variance."""
    counts, sums = SIZES.astype(np.float64), np.bincount(CODES, Y)[:, None]
    found = shrunken_effects(counts, sums - 1e6 * counts[:, None], np.array([np.square(Y - 1e6).sum()]))[:, 0]
    means, n = np.bincount(CODES, Y) / SIZES, len(Y)
    within = np.square(Y - means[CODES]).sum() / (n - len(SIZES))
    between = (SIZES * np.square(means - Y.mean())).sum() / (len(SIZES) - 1)
    variance = (between - within) / ((n - np.square(SIZES).sum() / n) / (len(SIZES) - 1))
    assert variance > 0.0
    members = np.eye(len(SIZES))[CODES]
    covariance = within * np.eye(n) + variance * members @ members.T
    inverse = np.linalg.inv(covariance)
    mean = inverse.sum(axis=0) @ Y / inverse.sum()
    np.testing.assert_allclose(found, variance * members.T @ inverse @ (Y - mean), rtol=1e-6)


def test_a_row_is_encoded_without_its_own_target() -> None:
    folds = RNG.integers(FOLDS, size=len(Y))
    other = Y.copy()
    other[folds == 2] += RNG.normal(0.0, 50.0, int((folds == 2).sum()))
    first, second = statistics(Y, folds), statistics(other, folds)
    before, after = (dict(zip(one.texts, one.effects(without=2)[:, 0], strict=True)) for one in (first, second))
    assert before == pytest.approx(after, rel=1e-6)
    assert first.effects()[:, 0] != pytest.approx(second.effects()[:, 0], rel=1e-2)


def test_without_repeated_texts_or_with_one_text_there_are_no_effects() -> None:
    assert not shrunken_effects(np.ones(4), np.arange(4.0)[:, None], np.array([14.0])).any()
    assert not shrunken_effects(np.array([4.0]), np.array([[6.0]]), np.array([14.0])).any()
    assert not shrunken_effects(np.zeros(0), np.zeros((0, 1)), np.zeros(1)).any()


def test_targets_that_do_not_depend_on_the_text_are_shrunk_to_nothing_on_average() -> None:
    spread = []
    for seed in range(20):
        y = np.random.default_rng(seed).normal(size=(400, 1))
        codes = np.arange(400) % 100
        sums = np.bincount(codes, y[:, 0]).astype(np.float64)[:, None]
        found = shrunken_effects(np.full(100, 4.0), sums, np.square(y).sum(axis=0))
        spread.append(found.std() / (sums / 4.0).std())
    assert np.mean(spread) < 0.15


def test_effects_have_unit_size_over_the_rows_and_others_are_0() -> None:
    found = statistics(Y, np.zeros(len(Y), np.intp))
    encoded = EncodedEffects("shop", found.texts, encoded_effects(found), fill=0.0, indicator=True)
    encoding = InputEncoding((encoded,))
    column = CategoryArray(np.append(CODES, [8, -1]).astype(np.int32), (*LABELS, "unknown"))
    found_rows, faults = encode_inputs(encoding, {"shop": column})
    assert faults == ()
    assert np.square(found_rows[: len(Y), 0]).mean() == pytest.approx(1.0)
    np.testing.assert_array_equal(found_rows[-2:], [[0.0, 0.0], [0.0, 1.0]])
    assert column_names(encoding) == ("shop (effect)", "shop missing")


def test_a_missing_text_is_a_fault_where_none_is_accepted() -> None:
    encoding = InputEncoding((EncodedEffects("shop", ("a",), ((1.0,), (2.0,)), fill=None, indicator=False),))
    found_rows, faults = encode_inputs(encoding, {"shop": CategoryArray(np.array([0, -1], np.int32), ("a",))})
    assert [(fault.row, fault.column) for fault in faults] == [(1, "shop")]
    np.testing.assert_array_equal(found_rows[0], [1.0, 2.0])
    assert np.isnan(found_rows[1]).all()
    assert column_names(encoding) == ("shop (effect 1)", "shop (effect 2)")


def test_of_more_texts_those_with_the_most_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "MAX_TEXTS", 3)
    found = statistics(Y, np.zeros(len(Y), np.intp))
    assert {*found.texts} == {"f", "g", "h"}
    (encoded,) = encoded_effects(found)
    every = dict(zip(found.places, (found.effects() / found.scale())[:, 0].tolist(), strict=True))
    assert encoded == tuple(every[text] for text in found.texts)
