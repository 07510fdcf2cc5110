"""The expected information of a full process, and its predictions of rows that are left out."""

import numpy as np
import pytest

from relevance_bayes.core.inference.exact_process import (
    FEW_PROBES,
    PROBES,
    ExactProcess,
    probes,
    symmetric_rows,
    without_each,
)
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import CityBlock, Covariance, Gaussian, Laplacian, Matern32, Matern52
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap, Terms
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

N = 150
WIDTHS = np.array([1.0, 2.0, 3.0])
BENDS = np.array([0.2, -0.1, 0.3])
KERNELS = pytest.mark.parametrize("kernel", [Gaussian(), Matern32(), Matern52(), Laplacian(), CityBlock()])
MAPS = pytest.mark.parametrize(
    "input_map",
    [InputMap(WIDTHS), InputMap(np.array([1.5])), InputMap(WIDTHS, BENDS, -BENDS)],
    ids=["each", "one", "warped"],
)
FOLD = np.arange(0, N, 5)
OTHERS = np.setdiff1d(np.arange(N), FOLD)


def drawn(*, targets: int = 1, by_row: bool = False) -> ProcessRows:
    """Rows of three inputs with a bias and the inputs as columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    t = np.sin(2.0 * X[:, :1]) + X[:, 1:2] + 0.1 * rng.normal(size=(N, targets))
    precisions = rng.uniform(0.5, 2.0, N) if by_row else None
    return ProcessRows(X, t[:, 0] if targets == 1 else t, np.hstack([np.ones((N, 1)), X]), precisions)


def guessed(input_map: InputMap, terms: Terms | None = None) -> Hyperparameters:
    return Hyperparameters(50.0, 1.3, np.array([0.5, 2.0, 2.0, 2.0]), input_map, terms or Terms())


def covariance(rows: ProcessRows, kernel: Covariance, h: Hyperparameters) -> Array:
    U = h.input_map(rows.X)
    C: Array = h.signal_variance * h.covariance(kernel)(U, U) + (rows.F / h.alpha) @ rows.F.T
    C.flat[:: len(C) + 1] += 1.0 / rows.precision(h.beta)
    return C


def exact_information(rows: ProcessRows, kernel: Covariance, h: Hyperparameters) -> Array:
    """1/2 tr(P C_i P C_j), C_i by differences."""
    theta, step = h.packed(), 1e-5
    slopes = [
        (covariance(rows, kernel, h.unpacked(theta + e)) - covariance(rows, kernel, h.unpacked(theta - e))) / (2 * step)
        for e in step * np.eye(len(theta))
    ]
    reached = [np.linalg.solve(covariance(rows, kernel, h), slope) for slope in slopes]
    return np.array([[0.5 * float(np.sum(a * b.T)) for a in reached] for b in reached])


@KERNELS
@MAPS
def test_the_expected_information_is_that_of_its_traces(kernel: Covariance, input_map: InputMap) -> None:
    rows, h = drawn(), guessed(input_map)
    found, exact = ExactProcess.of(rows, kernel, h).information, exact_information(rows, kernel, h)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal())) + 1e-3
    assert np.abs((found - exact) / size).max() < 4.0 / np.sqrt(PROBES)
    assert np.linalg.eigvalsh(found).min() > -1e-9 * np.abs(found).max()


def test_rows_in_another_order_have_the_same_probes() -> None:
    rows, order = drawn(), np.random.default_rng(3).permutation(N)
    np.testing.assert_array_equal(probes(rows.take(order), 3), probes(rows, 3)[order])


def test_few_probes_estimate_the_information_about_as_well_as_their_number_allows() -> None:
    rows, h = drawn(), guessed(InputMap(WIDTHS))
    exact, process = exact_information(rows, Gaussian(), h), ExactProcess.of(rows, Gaussian(), h)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    few, many = (np.abs((process.information_by(q) - exact) / size).mean() for q in (FEW_PROBES, 64 * FEW_PROBES))
    assert many < few < 2.0 / np.sqrt(FEW_PROBES)


def test_of_few_rows_the_information_is_exact() -> None:
    h, some = guessed(InputMap(WIDTHS, BENDS, -BENDS)), np.arange(40)
    rows = drawn().take(some)
    found, exact = ExactProcess.of(rows, Matern32(), h).information, exact_information(rows, Matern32(), h)
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)


def test_the_information_of_several_targets_is_that_of_each_times_their_number() -> None:
    h = guessed(InputMap(WIDTHS))
    one, three = (ExactProcess.of(drawn(targets=k), Gaussian(), h).information for k in (1, 3))
    np.testing.assert_allclose(three, 3.0 * one, rtol=1e-9)


def test_terms_of_single_inputs_have_an_information_too() -> None:
    rows, h = drawn(), guessed(InputMap(WIDTHS), Terms((0,), np.array([0.3])))
    found, exact = ExactProcess.of(rows, Gaussian(), h).information, exact_information(rows, Gaussian(), h)
    assert found[-1, -1] == pytest.approx(exact[-1, -1], rel=0.5)


def test_of_many_rows_the_information_of_a_kernel_that_is_no_function_of_squares_is_scaled_from_some() -> None:
    rows, h = drawn(), guessed(InputMap(WIDTHS))
    many = ProcessRows(*(np.concatenate([part, part + 0.01, part - 0.01]) for part in (rows.X, rows.t, rows.F)))
    found = ExactProcess.of(many, CityBlock(), h).information
    assert found.diagonal().min() >= 0.0
    assert found[0, 0] == pytest.approx(exact_information(many, CityBlock(), h)[0, 0], rel=0.5)


@KERNELS
@MAPS
@pytest.mark.parametrize("by_row", [False, True])
def test_a_process_without_a_fold_is_the_process_of_the_other_rows(
    kernel: Covariance, input_map: InputMap, by_row: bool
) -> None:
    rows, h = drawn(by_row=by_row), guessed(input_map)
    found, other = ExactProcess.of(rows, kernel, h).without(FOLD), ExactProcess.of(rows.take(OTHERS), kernel, h)
    fold = rows.take(FOLD)
    mean, variance = other.predict(fold.X, fold.F)
    np.testing.assert_allclose(found.mean, mean, atol=1e-9)
    np.testing.assert_allclose(found.variance, variance + 1.0 / fold.precision(h.beta), rtol=1e-9)
    assert found.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(found.gradient, other.gradient, rtol=1e-7, atol=1e-8)


def test_the_gradient_without_a_fold_is_that_of_differences() -> None:
    rows, h = drawn(), guessed(InputMap(WIDTHS, BENDS, -BENDS))

    def value(theta: Array) -> float:
        return ExactProcess.of(rows, Gaussian(), h.unpacked(theta)).without(FOLD).value

    found = ExactProcess.of(rows, Gaussian(), h).without(FOLD).gradient
    np.testing.assert_allclose(found, by_differences(value, h.packed()), rtol=1e-5, atol=1e-6)


def test_folds_one_after_the_other_are_predicted_by_one_factorisation() -> None:
    rows, h, sizes = drawn(), guessed(InputMap(WIDTHS)), [40, 60, 50]
    process = ExactProcess.of(rows, Matern32(), h, with_slopes=False)
    stop = 0
    for size, (mean, variance) in zip(sizes, without_each(process, sizes), strict=True):
        one = process.without(np.arange(stop, stop := stop + size))
        np.testing.assert_allclose(mean, one.mean, atol=1e-10)
        np.testing.assert_allclose(variance, one.variance, rtol=1e-10)


def test_one_triangle_is_enough_of_a_symmetric_matrix() -> None:
    rng = np.random.default_rng(3)
    full = rng.normal(size=(9, 9))
    full += full.T
    upper = np.triu(full) + np.tril(np.full((9, 9), 77.0), -1)
    np.testing.assert_allclose(symmetric_rows(upper, np.array([7, 2])), full[[7, 2]])
