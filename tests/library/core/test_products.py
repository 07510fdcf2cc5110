import numpy as np
import pytest

from relevance_bayes.core import basis as module
from relevance_bayes.core.basis import (
    RESIDUE,
    ConstantFunction,
    Dense,
    KernelFunctions,
    LowRank,
    incomplete_cholesky,
    products_of,
)
from relevance_bayes.core.kernels import Gaussian, LinearSpline
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array, Indices

ROWS = 240


def drawn(inputs: int = 1) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(inputs)
    X = rng.uniform(-4.0, 4.0, (ROWS, inputs))
    return X, rng.standard_normal((ROWS, 3)), rng.uniform(0.1, 2.0, ROWS)


def functions_on(X: Array, rows: Indices, width: float = 2.0) -> KernelFunctions:
    return KernelFunctions(Gaussian(), InputMap.isotropic(width), X[rows], rows)


def columns_of(functions: KernelFunctions, X: Array) -> Array:
    return functions(X, np.arange(functions.size))


@pytest.mark.parametrize("some", [False, True], ids=["all rows", "some rows"])
def test_a_low_rank_factor_gives_the_products_of_the_columns_themselves(some: bool) -> None:
    X, towards, precision = drawn()
    functions = functions_on(X, np.arange(3, ROWS, 7) if some else np.arange(ROWS))
    found, Phi = products_of(functions, X, is_kept=True), columns_of(functions, X)
    assert isinstance(found, LowRank)
    np.testing.assert_allclose(found.products(towards), Phi.T @ towards, atol=1e-9)
    product, squares = found.products_and_norms(towards, precision)
    np.testing.assert_allclose(product, Phi.T @ towards, atol=1e-9)
    np.testing.assert_allclose(squares, (Phi**2).T @ precision, rtol=1e-10)
    np.testing.assert_allclose(found.products_and_norms(towards)[1], (Phi**2).sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "computed anew"])
def test_dense_products_in_pieces_are_those_of_the_whole(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * ROWS * 50)
    X, towards, precision = drawn()
    functions = functions_on(X, np.arange(ROWS))
    dense, Phi = Dense(functions, X, kept), columns_of(functions, X)
    for _ in range(2):
        np.testing.assert_allclose(dense.products(towards), Phi.T @ towards, rtol=1e-12, atol=1e-12)
        product, squares = dense.products_and_norms(towards, precision)
        np.testing.assert_allclose(product, Phi.T @ towards, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(squares, (Phi**2).T @ precision, rtol=1e-12)
        np.testing.assert_allclose(dense.products_and_norms(towards)[1], (Phi**2).sum(axis=0), rtol=1e-12)
    assert len(dense._blocks) == (5 if kept else 0)


def test_the_factor_leaves_no_more_than_it_reports() -> None:
    X, _, _ = drawn()
    functions = functions_on(X, np.arange(ROWS))
    G = incomplete_cholesky(functions, X, 60)
    assert G is not None
    assert len(G) < 40
    assert np.abs(columns_of(functions, X) - G.T @ G).max() < 2.0 * RESIDUE


def test_a_kernel_matrix_of_high_rank_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = drawn(10)
    functions = functions_on(X, np.arange(ROWS), width=1.0)
    rows_requested: list[int] = []
    evaluate = Gaussian.__call__

    def counted(kernel: Gaussian, U: Array, Z: Array) -> Array:
        rows_requested.append(len(U))
        return evaluate(kernel, U, Z)

    monkeypatch.setattr(Gaussian, "__call__", counted)
    assert incomplete_cholesky(functions, X, ROWS // 8) is None
    assert sum(rows_requested) <= ROWS // 8 // 2
    assert isinstance(products_of(functions, X, is_kept=True), Dense)


def test_rows_at_one_place_need_one_pivot() -> None:
    X = np.repeat(np.array([[0.0], [1.0], [5.0]]), 100, axis=0)
    functions = functions_on(X, np.arange(300))
    found = products_of(functions, X, is_kept=True)
    assert isinstance(found, LowRank)
    assert len(found.G) == 3


def test_what_has_no_factor_keeps_its_columns() -> None:
    X, _, _ = drawn()
    rows = np.arange(ROWS)
    spline = KernelFunctions(LinearSpline(), InputMap.isotropic(1.0), X, rows)
    elsewhere = KernelFunctions(Gaussian(), InputMap.isotropic(2.0), X + 0.1, rows)
    few = functions_on(X[:50], np.arange(50))
    assert isinstance(products_of(spline, X, is_kept=True), Dense)
    assert isinstance(products_of(elsewhere, X, is_kept=True), Dense)
    assert isinstance(products_of(few, X[:50], is_kept=True), Dense)
    assert isinstance(products_of(ConstantFunction(), X, is_kept=True), Dense)
