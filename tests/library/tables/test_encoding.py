import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import lognorm

from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, LogGaussian, Poisson, StudentT
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.records.values import Missing
from relevance_bayes.tables.columns import Block, NumberBlock, block_rows, taken
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    column_names,
    encode_inputs,
    encode_target,
    in_columns,
    in_target_units,
    raw_cells,
    user_log_evidence,
    user_mean,
    user_noise_sd,
    user_process_sd,
    user_scores,
    user_sd,
    user_variance,
)
from relevance_bayes.tables.kinds import iso_8601, seconds_of
from relevance_bayes.tasks.supervised.request import SupervisedRequest, named_likelihood
from relevance_bayes.tasks.supervised.rows import TrainingStatistics
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, cut_up, dataset_of, flags, moments, numbers, texts

TABLE: Block = {
    "age": numbers(30, 40, None, 50, 20, 35),
    "smoker": flags(True, False, True, True, None, False),
    "seen": moments(0.0, 86_400.0, 172_800.0, 43_200.5, 1.0, 2.0),
    "colour": texts("red", "blue", "red", None, "green", "blue"),
    "height": numbers(1.0, 2.0, 3.0, 4.0, 5.0, 6.5),
}


def encoding_of(
    table: Block,
    target: str,
    *,
    missing: Missing = "indicator",
    standardise: bool = True,
    likelihood: Likelihood | None = None,
    ends: tuple[int, ...] = (),
) -> Encoding:
    request = SupervisedRequest(
        DATASET_ID,
        target,
        missing=missing,
        standardise=standardise,
        likelihood=None if likelihood is None else named_likelihood(likelihood),
        dates="time",
    )
    statistics = TrainingStatistics(plan(request, dataset_of(table)))
    for _, block in cut_up(table, *ends):
        statistics.add(block, np.ones(block_rows(block), np.bool_), np.arange(block_rows(block), dtype=np.uint64))
    return statistics.encoding()


def test_standardised_numbers_have_mean_zero_and_spread_one() -> None:
    table: Block = {"x": numbers(1, 2, 3, 10), "when": moments(5, 6, 7, 8), "on": flags(True, False, False, False)}
    encoded, faults = encode_inputs(encoding_of({**table, "y": numbers(1, 2, 3, 5)}, "y", missing="error"), table)
    assert not faults
    np.testing.assert_allclose(encoded.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(encoded.std(axis=0), 1)


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a"), ("a", "a2", "b"), ("z", "b", "a")])
def test_columns_of_a_block_of_numbers_are_found_by_name(names: tuple[str, ...]) -> None:
    encoding = encoding_of(
        {"a": numbers(1, 2, 6), "b": numbers(7, 3, 5), "y": numbers(1, 2, 4)}, "y", standardise=False
    )
    column: dict[str, list[float]] = {"a": [1.0, 2.0], "b": [7.0, 3.0]}
    sent = NumberBlock(names, np.array([column.get(name, [-1.0, -2.0]) for name in names]).T)
    encoded, faults = encode_inputs(encoding, sent)
    assert not faults
    np.testing.assert_array_equal(encoded, [[1, 7], [2, 3]])


def test_raw_numbers_stay_as_they_are() -> None:
    encoding = encoding_of(TABLE, "height", standardise=False)
    encoded, _ = encode_inputs(encoding, TABLE)
    names = column_names(encoding)
    np.testing.assert_array_equal(encoded[:, names.index("age")], [30, 40, 35, 50, 20, 35])
    np.testing.assert_array_equal(encoded[:, names.index("seen")], [0, 86_400, 172_800, 43_200.5, 1, 2])


REPEATED = {name: taken(column, np.tile(np.arange(6), 20)) for name, column in TABLE.items()}
"""With as many gaps as have an indicator."""


def test_columns_of_the_matrix_have_the_names_of_what_they_hold() -> None:
    expected = (
        *("age", "age missing", "smoker", "smoker missing", "seen"),
        *("colour=blue", "colour=green", "colour=red", "colour missing"),
    )
    encoding = encoding_of(REPEATED, "height")
    assert column_names(encoding) == expected
    assert encoding.width == len(expected) == encode_inputs(encoding, TABLE)[0].shape[1]


def test_each_column_of_the_matrix_has_the_width_of_the_input_that_it_comes_from() -> None:
    basis = (Bias(), KernelBasis(width=FixedWidth((0.5, 2.0, 3.0, 4.0))), KernelBasis(width=FixedWidth(7.0)))
    encoding = encoding_of(REPEATED, "height")
    encoded = in_columns(Spec(GaussianNoise(), basis), encoding, [one.name for one in encoding.inputs]).basis
    widths = (0.5, 0.5, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0)
    assert len(widths) == encoding.width
    assert encoded == (Bias(), KernelBasis(width=FixedWidth(widths)), KernelBasis(width=FixedWidth(7.0)))


def test_a_category_is_one_hot_and_never_standardised() -> None:
    table: Block = {"colour": texts("red", "blue", "red"), "y": numbers(1, 2, 4)}
    encoded, _ = encode_inputs(encoding_of(table, "y", missing="error"), table)
    np.testing.assert_array_equal(encoded, [[0, 1], [1, 0], [0, 1]])


def test_a_gap_becomes_the_training_mean_and_a_one_beside_it() -> None:
    encoding = encoding_of(REPEATED, "height")
    encoded, faults = encode_inputs(encoding, TABLE)
    names = column_names(encoding)
    assert not faults
    assert encoded[2, names.index("age")] == pytest.approx(0, abs=1e-15)
    np.testing.assert_array_equal(encoded[:, names.index("age missing")], [0, 0, 1, 0, 0, 0])
    np.testing.assert_allclose(encoded[3, -4:], [2 / 5, 1 / 5, 2 / 5, 1])


def test_with_indicator_a_column_without_gaps_in_training_accepts_them_later() -> None:
    table: Block = {"x": numbers(1, 2, 6), "colour": texts("red", "blue", "red"), "y": numbers(1, 2, 4)}
    encoding = encoding_of(table, "y")
    encoded, faults = encode_inputs(encoding, {"x": numbers(None), "colour": texts(None)})
    assert column_names(encoding) == ("x", "colour=blue", "colour=red")
    assert not faults
    np.testing.assert_allclose(encoded, [[0, 1 / 3, 2 / 3]], atol=1e-15)


def test_a_gap_is_a_fault_where_the_model_was_trained_without() -> None:
    table: Block = {"x": numbers(1, 2, 6), "colour": texts("red", "blue", "red"), "y": numbers(1, 2, 4)}
    encoding = encoding_of(table, "y", missing="drop_rows")
    sent: Block = {"x": numbers(1, None, 2), "colour": texts("red", "blue", None)}
    encoded, faults = encode_inputs(encoding, sent)
    assert [(fault.row, fault.column) for fault in faults] == [(1, "x"), (2, "colour")]
    assert all("is missing" in fault.detail for fault in faults)
    np.testing.assert_array_equal(np.isnan(encoded).all(axis=1), [False, True, True])
    assert np.isfinite(encoded[0]).all()


def test_an_unseen_category_is_a_fault_that_names_it_and_the_known_ones() -> None:
    table: Block = {"colour": texts("red", "blue", "red"), "y": numbers(1, 2, 4)}
    encoded, faults = encode_inputs(encoding_of(table, "y"), {"colour": texts("mauve", "red", "teal")})
    assert [(fault.row, fault.column) for fault in faults] == [(0, "colour"), (2, "colour")]
    assert "'mauve'" in faults[0].detail
    assert "'teal'" in faults[1].detail
    assert "'blue', 'red'" in faults[0].detail
    np.testing.assert_array_equal(encoded, [[np.nan, np.nan], [0, 1], [np.nan, np.nan]])


def test_only_the_first_twenty_known_categories_are_listed() -> None:
    names = tuple(f"c{number:02}" for number in range(25))
    encoding = Encoding(
        (EncodedCategory("c", names, fill=None, indicator=False),), EncodedTarget("y", "number", 0.0, 1.0, ())
    )
    _, faults = encode_inputs(encoding, {"c": texts("other")})
    assert "'c19' and 5 more" in faults[0].detail
    assert "c20" not in faults[0].detail


def test_categories_are_those_of_the_chosen_rows_alone() -> None:
    table: Block = {"colour": texts("red", "blue", "green", "blue"), "y": numbers(1, 2, 4, 5)}
    statistics = TrainingStatistics(plan(SupervisedRequest(DATASET_ID, "y"), dataset_of(table)))
    statistics.add(table, np.array([True, True, False, True]), np.arange(4, dtype=np.uint64))
    assert column_names(statistics.encoding()) == ("colour=blue", "colour=red")


def test_a_column_that_is_constant_in_training_keeps_the_scale_one() -> None:
    table: Block = {"x": numbers(0.1, 0.1, 0.1, 7), "y": numbers(1, 2, 4, 5)}
    statistics = TrainingStatistics(plan(SupervisedRequest(DATASET_ID, "y"), dataset_of(table)))
    statistics.add(table, np.array([True, True, True, False]), np.arange(4, dtype=np.uint64))
    assert statistics.encoding().inputs == (EncodedNumber("x", "number", 0.1, 1.0, fill=None, indicator=False),)


def test_numbers_at_the_ends_of_the_range_are_standardised_without_overflow() -> None:
    table: Block = {
        "huge": numbers(*[-1.7e308] * 9, 1.7e308),
        "tiny": numbers(*[1e-308] * 5, *[3e-308] * 5),
        "y": numbers(*[-1e308] * 5, *[1e308] * 5),
    }
    encoding = encoding_of(table, "y", missing="error")
    encoded, faults = encode_inputs(encoding, table)
    assert not faults
    np.testing.assert_allclose(encoded[:, 0], [-1 / 3] * 9 + [3])
    np.testing.assert_allclose(encoded[:, 1], [-1] * 5 + [1] * 5)
    np.testing.assert_allclose(encode_target(encoding.target, table), [-1] * 5 + [1] * 5)


def test_a_number_too_far_from_the_training_data_is_a_fault() -> None:
    table: Block = {"x": numbers(1e-300, 2e-300, 4e-300), "y": numbers(1, 2, 4)}
    encoded, faults = encode_inputs(encoding_of(table, "y"), {"x": numbers(1e308, 1e-300)})
    assert [(fault.row, fault.column) for fault in faults] == [(0, "x")]
    assert np.isnan(encoded[0, 0])
    assert np.isfinite(encoded[1, 0])


@given(st.lists(st.integers(0, 6), max_size=3).map(sorted))
def test_statistics_gathered_block_by_block_are_those_of_the_whole(ends: list[int]) -> None:
    full, pieces = encoding_of(TABLE, "height"), encoding_of(TABLE, "height", ends=tuple(ends))
    assert column_names(full) == column_names(pieces)
    np.testing.assert_allclose(encode_inputs(full, TABLE)[0], encode_inputs(pieces, TABLE)[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(encode_target(full.target, TABLE), encode_target(pieces.target, TABLE), rtol=1e-12)


@given(st.integers(0, 6))
def test_a_block_encodes_as_its_rows_do_in_any_other_block(end: int) -> None:
    encoding = encoding_of(TABLE, "height")
    pieces = [encode_inputs(encoding, block)[0] for _, block in cut_up(TABLE, end)]
    np.testing.assert_array_equal(np.concatenate(pieces), encode_inputs(encoding, TABLE)[0])


@given(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=9, unique=True))
def test_a_target_comes_back_from_its_scaled_form(values: list[float]) -> None:
    table: Block = {"x": numbers(*range(len(values))), "y": numbers(*values)}
    target = encoding_of(table, "y").target
    back = user_mean(target, encode_target(target, table))
    np.testing.assert_allclose(back, values, rtol=1e-12, atol=1e-12 * max(map(abs, values)))


def test_a_target_with_known_noise_is_scaled_and_the_noise_and_hyperpriors_with_it() -> None:
    target = encoding_of(TABLE, "height", likelihood=GaussianNoise(0.01)).target
    assert target == encoding_of(TABLE, "height", likelihood=GaussianNoise()).target
    spec = Spec(GaussianNoise(0.01), prior=Independent(a=2.0, b=0.3, c=1.0, d=0.4))
    scaled = in_target_units(spec, target)
    assert scaled.likelihood == GaussianNoise(0.01 / target.scale)
    rates = 0.3 / target.scale / target.scale, 0.4 / target.scale / target.scale
    assert scaled.prior == Independent(a=2.0, b=rates[0], c=1.0, d=rates[1])
    logarithm = replace(target, logarithmic=True)
    assert in_target_units(spec, logarithm) == spec


POSITIVE = st.floats(1e-30, 1e30)


@given(st.lists(POSITIVE, min_size=3, max_size=9, unique=True), st.lists(st.integers(0, 3), max_size=2).map(sorted))
def test_positive_targets_stay_positive_with_logarithms_about_zero_and_come_back(
    values: list[float], ends: list[int]
) -> None:
    table: Block = {"x": numbers(*range(len(values))), "y": numbers(*values)}
    target = encoding_of(table, "y", likelihood=LogGaussian(), ends=tuple(ends)).target
    encoded = encode_target(target, table)
    assert (encoded > 0.0).all()
    assert np.log(encoded).mean() == pytest.approx(0.0, abs=1e-12)
    assert (target.shift, target.logarithmic) == (0.0, True)
    np.testing.assert_allclose(user_mean(target, encoded), values, rtol=1e-12)


@given(st.integers(-280, 270), st.lists(st.floats(-37, 37), min_size=3, max_size=9, unique=True))
def test_positive_targets_at_the_ends_of_the_range_are_encoded_too(middle: int, powers: list[float]) -> None:
    values = [10.0 ** (middle + power) for power in powers]
    assume(min(values) < max(values))
    table: Block = {"x": numbers(*range(len(values))), "y": numbers(*values)}
    encoded = encode_target(encoding_of(table, "y", likelihood=LogGaussian()).target, table)
    assert ((encoded >= 1e-75) & (encoded <= 1e75)).all()


@given(st.lists(st.integers(0, 2**53 - 1), min_size=3, max_size=9, unique=True))
def test_counts_stay_as_they_are(values: list[int]) -> None:
    table: Block = {"x": numbers(*range(len(values))), "y": numbers(*values)}
    target = encoding_of(table, "y", likelihood=Poisson()).target
    np.testing.assert_array_equal(encode_target(target, table), values)
    np.testing.assert_array_equal(user_mean(target, encode_target(target, table)), values)


@pytest.mark.parametrize("values", [(1, 10, 100), (0, 2, 7), (0.01, 0.3, 0.6)], ids=["span", "counts", "shares"])
def test_targets_that_may_be_counts_or_shares_stay_as_they_are(values: tuple[float, ...]) -> None:
    table: Block = {"x": numbers(1, 2, 3), "y": numbers(*values)}
    target = encoding_of(table, "y").target
    assert (target.shift, target.scale, target.logarithmic) == (0.0, 1.0, False)
    assert encoding_of(table, "y", likelihood=GaussianNoise()).target.scale != 1.0


def test_a_target_whose_logarithm_may_be_learned_is_divided_by_its_geometric_mean_until_that_is_settled() -> None:
    table: Block = {"x": numbers(1, 2, 3), "y": numbers(1.5, 15, 150)}
    found = encoding_of(table, "y").target
    assert (found.shift, found.logarithmic) == (0.0, False)
    assert found.scale == pytest.approx(15.0)
    assert replace(found, logarithmic=True) == encoding_of(table, "y", likelihood=LogGaussian()).target
    alone = encoding_of(table, "y", likelihood=GaussianNoise()).target
    assert (alone.shift, alone.logarithmic) == (55.5, False)


@pytest.mark.parametrize("likelihood", [StudentT(), StudentT(4.0)])
def test_a_target_with_outliers_is_scaled_as_one_with_gaussian_noise(likelihood: StudentT) -> None:
    assert encoding_of(TABLE, "height", likelihood=likelihood) == encoding_of(TABLE, "height")


def test_the_evidence_of_positive_numbers_is_the_density_of_the_users_own() -> None:
    y = np.array([200.0, 300.0, 1000.0])
    target = encoding_of({"x": numbers(1, 2, 3), "y": numbers(*y)}, "y", likelihood=LogGaussian()).target
    t = encode_target(target, {"y": numbers(*y)})
    mean, sd = np.log(t).mean(), 0.5

    def log_density(values: np.ndarray[tuple[int], np.dtype[np.float64]], centre: float) -> float:
        return float(lognorm.logpdf(values, sd, scale=math.exp(centre)).sum())

    of_user = log_density(y, mean + math.log(target.scale))
    assert user_log_evidence(target, log_density(t, mean), 3) == pytest.approx(of_user)
    scores = user_scores(target, {"nll": -log_density(t, mean) / 3})
    assert scores == {"nll": pytest.approx(-of_user / 3)}


def test_the_latent_function_of_logarithms_has_no_unit_and_is_0_at_the_scale() -> None:
    logarithmic = EncodedTarget("y", "number", 0.0, 1000.0, (), logarithmic=True)
    assert (logarithmic.latent_unit, logarithmic.latent_shift) == (1.0, math.log(1000.0))
    target = EncodedTarget("y", "number", 3.0, 10.0, ())
    assert (target.latent_unit, target.latent_shift) == (10.0, 3.0)


def test_noise_and_process_of_logarithms_have_no_units() -> None:
    target = EncodedTarget("y", "number", 0.0, 1000.0, (), logarithmic=True)
    assert user_noise_sd(target, 0.1) == 0.1
    assert user_process_sd(target, 0.25) == 0.5
    assert user_process_sd(EncodedTarget("y", "number", 3.0, 10.0, ()), 0.25) == 5.0


def test_a_missing_target_is_nan() -> None:
    target = EncodedTarget("y", "number", 1.0, 2.0, ())
    np.testing.assert_array_equal(encode_target(target, {"y": numbers(3, None)}), [1, np.nan])


def test_classes_become_zero_and_one_in_every_kind_of_column() -> None:
    def encoded(target: EncodedTarget, table: Block) -> list[float]:
        return [float(number) for number in encode_target(target, table)]

    assert encoded(EncodedTarget("y", "boolean", 0.0, 1.0, (False, True)), {"y": flags(True, False)}) == [1, 0]
    assert encoded(EncodedTarget("y", "number", 0.0, 1.0, (1, 2)), {"y": numbers(1, 2, 1)}) == [0, 1, 0]
    assert encoded(EncodedTarget("y", "category", 0.0, 1.0, ("a", "b")), {"y": texts("b", "a")}) == [1, 0]
    missing = encoded(EncodedTarget("y", "category", 0.0, 1.0, ("a", "b")), {"y": texts("b", None)})
    assert missing[0] == 1
    assert math.isnan(missing[1])


@given(st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=50, unique=True).map(sorted), st.data())
def test_classes_of_numbers_are_their_places_in_the_order(labels: list[int], data: st.DataObject) -> None:
    target = EncodedTarget("y", "number", 0.0, 1.0, tuple(labels))
    chosen = data.draw(st.lists(st.integers(0, len(labels) - 1), max_size=20))
    found = encode_target(target, {"y": numbers(*(labels[place] for place in chosen))})
    np.testing.assert_array_equal(found, chosen)
    others = [label + 0.5 for label in labels if abs(label) < 2**40]
    assert np.isnan(encode_target(target, {"y": numbers(*others, None, 1e300, -1e300)})).all()


@given(st.sets(st.text(), min_size=2, max_size=50).map(sorted), st.data())
def test_classes_of_texts_are_their_places_in_the_alphabet(labels: list[str], data: st.DataObject) -> None:
    target = EncodedTarget("y", "category", 0.0, 1.0, tuple(labels))
    chosen = data.draw(st.lists(st.integers(0, len(labels) - 1), max_size=20))
    table: Block = {"y": texts(*(labels[place] for place in chosen), "".join(labels) + "?", None)}
    np.testing.assert_array_equal(encode_target(target, table), [*chosen, np.nan, np.nan])


def test_the_log_evidence_of_the_user_is_the_density_of_his_own_numbers() -> None:
    target = EncodedTarget("y", "number", 3.0, 2.5, ())
    y = np.array([1.0, 4.0, 7.5])
    t = (y - target.shift) / target.scale

    def log_density(values: np.ndarray[tuple[int], np.dtype[np.float64]], mean: float, sd: float) -> float:
        return float(np.sum(-0.5 * ((values - mean) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)))

    mean, sd = user_mean(target, np.array([0.4])).item(), user_sd(target, np.array([0.8])).item()
    assert user_log_evidence(target, log_density(t, 0.4, 0.8), 3) == pytest.approx(log_density(y, mean, sd))


def test_spreads_and_scores_come_back_in_the_users_units() -> None:
    target = EncodedTarget("y", "number", 100.0, 10.0, ())
    assert user_noise_sd(target, 0.5) == 5
    assert user_noise_sd(target, None) is None
    np.testing.assert_array_equal(user_variance(target, np.array([0.25])), [25])
    scores = {"rmse": 0.2, "mae": 0.1, "r2": 0.9, "coverage_95": 0.94, "nll": 1.0}
    expected = {"rmse": 2.0, "mae": 1.0, "r2": 0.9, "coverage_95": 0.94, "nll": 1.0 + math.log(10)}
    assert user_scores(target, scores) == expected


def test_scores_of_classes_are_the_same_in_any_units() -> None:
    target = EncodedTarget("y", "boolean", 0.0, 1.0, (False, True))
    scores = {"error": 0.1, "log_loss": 0.3, "brier": 0.05}
    assert user_scores(target, scores) == scores


def test_results_beyond_the_range_stop_at_its_end() -> None:
    target = EncodedTarget("y", "number", 1e308, 1e308, ())
    largest = np.finfo(np.float64).max
    np.testing.assert_array_equal(user_mean(target, np.array([-5.0, 5.0])), [-largest, largest])
    np.testing.assert_array_equal(user_variance(target, np.array([1.0])), [largest])
    np.testing.assert_array_equal(user_sd(target, np.array([5.0])), [largest])


def test_cells_come_out_in_the_types_in_which_json_has_them() -> None:
    cells = raw_cells(TABLE, 0, TABLE, integral={"age"})
    assert cells == {"age": 30, "smoker": True, "seen": "1970-01-01T00:00:00Z", "colour": "red", "height": 1.0}
    assert [type(cells[name]) for name in ("age", "smoker", "height")] == [int, bool, float]


def test_a_missing_cell_of_any_kind_is_none() -> None:
    table: Block = {"a": numbers(None), "b": flags(None), "c": moments(None), "d": texts(None)}
    assert raw_cells(table, 0, table) == dict.fromkeys("abcd")


@given(st.integers(-62_135_596_800, 253_402_300_799), st.sampled_from([0.0, 0.5, 0.25]))
def test_a_timestamp_is_written_so_that_an_upload_reads_it_back(seconds: int, fraction: float) -> None:
    moment = float(seconds + fraction)
    assert seconds_of(iso_8601(moment)) == pytest.approx(moment, abs=1e-4)


def test_a_timestamp_has_no_idle_zeros() -> None:
    assert iso_8601(1_714_564_800.0) == "2024-05-01T12:00:00Z"
    assert iso_8601(1_714_564_800.25) == "2024-05-01T12:00:00.25Z"
