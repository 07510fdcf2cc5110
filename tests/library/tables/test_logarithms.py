from collections import Counter

import numpy as np
import pytest

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tables.encoding import EncodedNumber, InputEncoding, column_names, encode_inputs
from relevance_bayes.tables.moments import logarithmic_scale, signed_exponential, signed_logarithm

VALUES = np.array([-1e12, -3.0, -1e-9, 0.0, 1e-9, 0.5, 2.0, 1e12])


def counts(values: Array) -> Counter[float]:
    return Counter(values.tolist())


def test_the_logarithm_has_the_sign_of_the_number_and_is_linear_near_0() -> None:
    found = signed_logarithm(VALUES, 0.5)
    np.testing.assert_allclose(found[[1, 5, 6]], [-np.log(7.0), np.log(2.0), np.log(5.0)])
    np.testing.assert_allclose(found[[2, 3, 4]], [-2e-9, 0.0, 2e-9], rtol=1e-6)
    np.testing.assert_allclose(signed_exponential(found, 0.5), VALUES, rtol=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=500),
        np.random.default_rng(0).exponential(size=500),
        np.random.default_rng(0).uniform(size=500),
        np.tile([0.0, 1.0], 200),
        np.repeat([0.0, 1.0, 1e6], [100, 90, 10]),
        1e3 + np.random.default_rng(0).lognormal(0.0, 1.5, 500),
    ],
    ids=["normal", "exponential", "uniform", "flags", "few values", "far from 0"],
)
def test_numbers_without_heavy_tails_have_no_logarithms(values: Array) -> None:
    assert logarithmic_scale(counts(values)) is None


def test_the_unit_is_of_the_least_magnitude_of_numbers_of_one_sign_else_the_median() -> None:
    values = np.random.default_rng(0).lognormal(0.0, 1.5, 501)
    signs = np.where(np.arange(501) % 2, 1.0, -1.0)
    positive, negative, both, with_zeros = (
        logarithmic_scale(counts(each)) for each in (values, -values, signs * values, np.append(values, np.zeros(90)))
    )
    assert positive is not None
    assert negative is not None
    assert both is not None
    assert with_zeros is not None
    assert positive.unit == negative.unit == 0.1 * values.min()
    assert with_zeros.unit == values.min()
    assert both.unit == np.median(values)


def test_logarithms_are_standardised_by_the_rows() -> None:
    values = np.repeat(np.random.default_rng(0).lognormal(0.0, 1.5, 200), np.arange(200) % 3 + 1)
    found = logarithmic_scale(counts(values))
    assert found is not None
    encoded = (signed_logarithm(values, found.unit) - found.shift) / found.scale
    assert abs(encoded.mean()) < 1e-12
    assert encoded.std() == pytest.approx(1.0)
    assert signed_logarithm(np.array([found.mean]), found.unit)[0] == pytest.approx(found.shift)


@pytest.mark.parametrize("rows", [1, 8])
def test_a_number_by_its_logarithm_is_encoded_and_decoded(rows: int) -> None:
    column = EncodedNumber("income", "number", 1.5, 2.0, fill=None, indicator=False, unit=0.5)
    encoding = InputEncoding((EncodedNumber("x", "number", 1.0, 4.0, fill=None, indicator=False), column))
    values = VALUES[:rows]
    encoded, faults = encode_inputs(encoding, {"x": NumberArray(values), "income": NumberArray(values)})
    assert faults == ()
    np.testing.assert_allclose(encoded[:, 0], (values - 1.0) / 4.0)
    np.testing.assert_allclose(encoded[:, 1], (signed_logarithm(values, 0.5) - 1.5) / 2.0)
    np.testing.assert_allclose(column.decode(encoded[:, 1]), values, rtol=1e-9, atol=1e-12)
    assert column_names(encoding) == ("x", "income (log)")


def test_a_missing_number_has_the_logarithm_of_the_fill_and_others_have_a_fault() -> None:
    column = EncodedNumber("income", "number", np.log(3.0), 2.0, fill=1.0, indicator=True, unit=0.5)
    encoded, faults = encode_inputs(InputEncoding((column,)), {"income": NumberArray(np.array([np.nan, 1.0]))})
    assert faults == ()
    np.testing.assert_allclose(encoded, [[0.0, 1.0], [0.0, 0.0]], atol=1e-15)
    without = EncodedNumber("income", "number", 0.0, 1.0, fill=None, indicator=False, unit=0.5)
    _, faults = encode_inputs(InputEncoding((without,)), {"income": NumberArray(np.array([np.nan, 1.0]))})
    assert [fault.row for fault in faults] == [0]
