"""Lists of functions: those that are on no row, in the user's units, and the standard deviations of weights."""

from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest

from relevance_bayes.core.basis import GroupFunctions, InputFunctions
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.records.functions import InputShape
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding, column_units
from relevance_bayes.tasks.listing import FunctionLocation, listed, shaped, ungrouped
from tests.exports.trained import trained

ENCODING = Encoding(
    (
        EncodedNumber("time", "number", 100.0, 10.0, fill=90.0, indicator=True),
        EncodedCategory("colour", ("red", "blue"), fill=None, indicator=False),
        EncodedNumber("depth", "number", -5.0, 2.0, fill=None, indicator=False),
    ),
    EncodedTarget("y", "number", 0.0, 1.0, ()),
)
NAMES = ("time", "time missing", "colour=red", "colour=blue", "depth")
UNITS = ((100.0, 10.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-5.0, 2.0))


def reported(
    functions: StepFunctions | FourierFunctions | SplineFunctions | GaborFunctions, *columns: int
) -> FunctionLocation:
    return shaped(functions.shape(0), np.array(columns), NAMES, UNITS)


def test_a_weight_sd_of_a_process_through_all_rows_keeps_its_digits() -> None:
    """Of (1 - gamma) / alpha a share below 1e-16 is left as 0, or as another one."""
    model, at = trained("all rows").predictor.model, repeat(FunctionLocation("kernel"))
    scaled = replace(model, covariance=1e-20 * model.covariance, gamma=np.ones_like(model.gamma))
    before, found = (np.array([one.weight_sd for one in listed(each, (), at)]) for each in (model, scaled))
    np.testing.assert_allclose(before, np.sqrt((1.0 - model.gamma) / model.alpha), rtol=1e-4)
    np.testing.assert_allclose(found, 1e-10 * before, rtol=1e-9)


def test_units_are_those_of_the_encoding() -> None:
    assert column_units(ENCODING) == UNITS


def test_a_step_is_where_it_jumps() -> None:
    found = reported(StepFunctions(np.array([0]), np.array([0.5])), 0)
    assert (found.kind, found.input) == ("step", "time")
    assert found.shape == (InputShape("time", 105.0, None, None),)


def test_a_spline_spreads_over_its_inputs_units() -> None:
    found = reported(SplineFunctions(3, np.array([1]), np.array([-1.0]), np.array([0.25])), 0, 4)
    assert found.shape == (InputShape("depth", -7.0, 0.5, None),)


def test_a_wave_is_counted_in_cycles_per_unit() -> None:
    """cos(2 pi (f (u - o) - phase)), u = (x - 100) / 10."""
    waves = FourierFunctions(np.array([0]), np.array([-2.0]), np.array([3.0]), np.array([0.25]))
    found = reported(waves, 0)
    (shape,) = found.shape
    assert shape.location == 80.0
    assert shape.frequency == pytest.approx(0.3)
    assert shape.frequency is not None
    assert found.phase == 0.25
    x = np.array([83.0, 121.0])
    wave = np.cos(2.0 * np.pi * (shape.frequency * (x - shape.location) - 0.25))
    np.testing.assert_allclose(waves(((x - 100.0) / 10.0)[:, None], np.array([0]))[:, 0], wave, atol=1e-12)


def test_a_wavelet_lies_in_both_of_its_inputs() -> None:
    wavelet = GaborFunctions(np.array([[0.0, 1.0]]), np.array([0.5]), np.array([[2.0, -4.0]]), np.array([0.0]))
    found = reported(wavelet, 4, 0)
    assert found.input is None
    assert found.shape == (InputShape("depth", -5.0, 1.0, 1.0), InputShape("time", 110.0, 5.0, -0.4))


def test_a_group_knows_its_columns() -> None:
    inside = InputFunctions(np.array([1]))
    assert ungrouped(GroupFunctions(np.array([4, 0]), inside), 5)[0] is inside
    np.testing.assert_array_equal(ungrouped(GroupFunctions(np.array([4, 0]), inside), 5)[1], [4, 0])
    np.testing.assert_array_equal(ungrouped(inside, 3)[1], [0, 1, 2])
