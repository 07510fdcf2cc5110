"""The few dense operations that the core needs: factorise once, solve often.

An operating-system process that only predicts needs numpy alone: importing scipy takes 20 MB and .1 s.
"""

from collections.abc import Iterator

import numpy as np
import scipy

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array

FEW_INPUTS = 3
"""Inputs up to which distances are summed from differences, without cancellation."""

STRIP = 64
"""Columns of a triangle that are multiplied at once: 512 columns take .75 times the time of a triangular solution."""

FAR = 1e6
"""A point whose square is above this loses more than 1e-9 of its squared distances to cancellation: a warp can send an
outlying input to 10^7 widths, and the kernel of the point with itself came out as .88."""

PIECE_BYTES = 4 * 2**20
"""Columns of rows are computed so many bytes at a time: few enough to stay in a processor's cache."""


def cholesky(matrix: Array) -> Array:
    """Return the lower L (R, R) with L L' = matrix (R, R); raises NotPositiveDefiniteError."""
    if matrix.shape[0] == 0:
        return matrix
    lower, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=1)
    if info != 0:
        raise NotPositiveDefiniteError(
            f"expected a positive definite matrix of order {len(matrix)}, leading minor {info} is not"
        )
    return np.asarray(lower)


def light_cholesky(matrix: Array) -> Array:
    """`cholesky` of a matrix (R, R) by numpy, which costs some microseconds more."""
    try:
        return np.asarray(np.linalg.cholesky(matrix), np.float64)
    except np.linalg.LinAlgError:
        raise NotPositiveDefiniteError(f"expected a positive definite matrix of order {len(matrix)}") from None


def inverse_of_upper(upper: Array) -> Array:
    """U^-1 (R, R) of an upper triangular U, by numpy.

    The LU factors of an upper triangle are I and itself under any pivoting, so that `solve` is back substitution.
    """
    return np.asarray(np.linalg.solve(upper, np.eye(len(upper))), np.float64)


def factors_of_sum(Y: Array) -> tuple[Array, Array]:
    """A lower triangular L (R, R) with L L' = I + Y'Y, Y (n, R), its diagonal of any sign, and Y L^-T (n, R).

    By QR: for entries of Y near 10^9 the sum itself loses I to rounding, and has no Cholesky factor.
    """
    orthogonal, upper = scipy.linalg.qr(np.concatenate([Y, np.eye(Y.shape[1])]), mode="economic", check_finite=False)
    return np.ascontiguousarray(upper.T), np.ascontiguousarray(orthogonal[: len(Y)])


def orthonormal(columns: Array) -> Array:
    """Orthonormal columns (N, min(N, R)) whose span contains that of columns (N, R)."""
    basis, _ = scipy.linalg.qr(columns, mode="economic", check_finite=False)
    return np.asarray(basis)


def root_of_gram(gram: Array) -> Array:
    """C (k, n) with C'C = gram (n, n) up to rounding, k its numerical rank: by Cholesky with pivots.

    Columns are scaled to norm 1 while they are factorised, so that small ones keep their precision.
    """
    size = np.sqrt(gram.diagonal())
    scale = np.divide(1.0, size, out=np.zeros(len(size)), where=size > 0.0)
    upper, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram * scale * scale[:, None])
    root = np.zeros((rank, len(gram)))
    root[:, pivots - 1] = np.triu(upper[:rank])
    return root * size


def log_determinant(lower: Array) -> float:
    """log |L L'| of a lower triangular L (R, R)."""
    return 2.0 * float(np.log(lower.diagonal()).sum())


def inverse_from_cholesky(lower: Array) -> Array:
    """(L L')^-1, symmetric to the bit, from the lower triangular L (R, R) of `cholesky`."""
    if lower.shape[0] == 0:
        return lower
    half, _ = scipy.linalg.lapack.dpotri(lower, lower=1)
    inverse = np.asarray(half + half.T)
    inverse.flat[:: len(lower) + 1] *= 0.5
    return inverse


def solve_with_cholesky(lower: Array, right: Array) -> Array:
    """(L L')^-1 right, for right (R,)."""
    if lower.shape[0] == 0:
        return right
    solution, _ = scipy.linalg.lapack.dpotrs(lower, right, lower=1)
    return np.asarray(solution)


def solve_lower(lower: Array, right: Array) -> Array:
    """L^-1 right, for a lower triangular L (R, R) and right (R,) or (R, k)."""
    if lower.shape[0] == 0 or right.size == 0:
        return right
    solution, _ = scipy.linalg.lapack.dtrtrs(lower, right, lower=1)
    return np.asarray(solution)


def solve_lower_transposed(lower: Array, right: Array) -> Array:
    """L^-T right, for a lower triangular L (R, R) and right (R,) or (R, k)."""
    if lower.shape[0] == 0 or right.size == 0:
        return right
    solution, _ = scipy.linalg.lapack.dtrtrs(lower, right, lower=1, trans=1)
    return np.asarray(solution)


def inverse_of_lower(lower: Array) -> Array:
    """L^-1 (R, R), lower triangular, of a lower triangular L."""
    if lower.shape[0] == 0:
        return lower
    inverse, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
    return np.asarray(inverse)


def times_lower(left: Array, lower: Array) -> Array:
    """left L, (n, R), of left (n, R) and a lower triangular L (R, R): half the operations of a product with any L.

    By strips of STRIP columns, each of which needs no entry above the diagonal but those in its own strip. numpy's
    products release the interpreter lock, which scipy's triangular solutions hold.
    """
    found = np.empty(left.shape)
    for first in range(0, len(lower), STRIP):
        strip = slice(first, first + STRIP)
        np.matmul(left[:, first:], lower[first:, strip], out=found[:, strip])
    return found


def times_lower_transposed(left: Array, lower: Array, out: Array | None = None) -> Array:
    """left L', (n, R), into `out` where it is given: as `times_lower` does it."""
    found = np.empty(left.shape) if out is None else out
    for first in range(0, len(lower), STRIP):
        strip = slice(first, first + STRIP)
        np.matmul(left[:, : strip.stop], lower[strip, : strip.stop].T, out=found[:, strip])
    return found


def max_piece(width: int) -> int:
    """The number of rows of so many numbers that are computed at once."""
    return max(PIECE_BYTES // (8 * max(width, 1)), 1)


def max_rows_of_gram(columns: int) -> int:
    """The number of rows whose Gram matrix is computed at once: `max_piece`, and at least half as many as columns.

    With fewer, adding the matrices, and mirroring the triangle that is computed, costs as much as the products.
    """
    return max(max_piece(columns), columns // 2)


def pieces(rows: int, width: int) -> "Iterator[slice[int, int, None]]":
    """Rows in their order, as many of so many numbers at a time as are computed at once."""
    size = max_piece(width)
    return (slice(first, first + size) for first in range(0, rows, size))


def weighted_gram(P: Array, weights: Array) -> Array:
    """P'diag(w)P (R, R) of P (N, R) and w (N,), none of them below 0: some rows at a time, so that P is not copied."""
    gram = np.zeros((P.shape[1],) * 2)
    for some in pieces(*P.shape):
        weighted = np.sqrt(weights[some])[:, None] * P[some]
        gram += weighted.T @ weighted
    return gram


def squared_products(P: Array, lower: Array) -> Array:
    """|L p_n|^2 (N,) of the rows of P (N, R) and a lower triangular L (R, R), some rows at a time."""
    found = np.empty(len(P))
    for some in pieces(*P.shape):
        products = times_lower_transposed(P[some], lower)
        found[some] = np.vecdot(products, products)
    return found


def subtract_outer(matrix: Array, left: Array, right: Array) -> None:
    """matrix (n, m) -= left (n,) right (m,)' in place, by one pass where numpy needs two; rows are contiguous."""
    if matrix.size:
        scipy.linalg.blas.dger(-1.0, right, left, a=matrix.T, overwrite_a=1)


def squared_distances(U: Array, Z: Array) -> Array:
    """|u_n - z_m|^2 as (N, M), from U (N, d) and Z (M, d).

    With many inputs by one matrix product of points centred on Z; negative results of cancellation become 0.
    Inputs in which a point is FAR are summed from differences.
    """
    if not len(Z):
        return np.empty((len(U), 0))
    if U.shape[1] <= FEW_INPUTS:
        return _from_differences(U, Z)
    if len(Z) == 1:  # equal to the product of points centred on it
        difference = U - Z
        return np.asarray(np.vecdot(difference, difference)[:, None])
    centre = Z.mean(axis=0)
    U, Z = U - centre, Z - centre
    of_U, of_Z = np.einsum("nd,nd->n", U, U), np.einsum("md,md->m", Z, Z)
    if max(np.fmax.reduce(of_U, initial=0.0), np.fmax.reduce(of_Z, initial=0.0)) > FAR:
        far = U.shape[1] * np.fmax.reduce(np.square(np.concatenate([U, Z]))) > FAR
        distances = _from_differences(U[:, far], Z[:, far])
        return distances if far.all() else distances + squared_distances(U[:, ~far], Z[:, ~far])
    distances = U @ (-2.0 * Z.T)
    distances += of_U[:, None]
    distances += of_Z[None, :]
    return np.maximum(distances, 0.0, out=distances)


def _from_differences(U: Array, Z: Array) -> Array:
    """The squared distances, summed input by input; of one input at least."""
    distances = np.subtract.outer(U[:, 0], Z[:, 0])
    np.square(distances, out=distances)
    for k in range(1, U.shape[1]):
        difference = np.subtract.outer(U[:, k], Z[:, k])
        distances += np.square(difference, out=difference)
    return distances
