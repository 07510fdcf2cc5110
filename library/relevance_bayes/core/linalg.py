"""Linear algebra of symmetric matrices: factors, solutions and inverses, of large ones in place and without the lock.

Memory of matrices is used again.
The C library returns large arrays to the kernel when they are freed, and gets them back page by page: of an evaluation
of the evidence at 800 rows that is a sixth of all CPU time.

scipy's wrappers of LAPACK hold the lock and copy what they return. Its pointers to the same routines are called by
`ctypes`, which releases the lock, so that several threads factorise at once.

A matrix (N, N) is given by its upper triangle in C order: LAPACK reads the lower triangle of its transpose. Entries
below the diagonal are not read, and hold other numbers.

An operating-system process that only predicts needs numpy alone: importing scipy takes 20 MB and .1 s.
"""

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Protocol
from weakref import finalize

import numpy as np
import scipy

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.types import Array

MIN_NUMBERS = 2**14
"""The size from which memory is kept: the C library keeps smaller arrays itself."""

UNIT = 2**16
"""Sizes are multiples of so many numbers, so that folds of nearly as many rows use the same memory."""

MAX_KEPT = 2**23
"""Numbers in all memory that is kept while no array is in it: 64 MiB."""

_kept: defaultdict[int, list[Array]] = defaultdict(list)
"""Memory without an array in it, by its size; threads share it, since `append` and `pop` are atomic."""


def empty_matrix(rows: int, columns: int) -> Array:
    """An array (n, m) of any numbers, in C order, in the memory of an earlier one where there is some.

    Its memory is kept for later arrays as soon as neither it nor a part of it is referred to.
    """
    numbers = rows * columns
    if numbers < MIN_NUMBERS:
        return np.empty((rows, columns))
    size = -(-numbers // UNIT) * UNIT
    try:
        memory = _kept[size].pop()
    except IndexError:
        memory = np.empty(size)
    every = np.frombuffer(memory.data, np.float64, numbers)  # the base of all its parts, which `memory` is not
    finalize(every, _keep, memory).atexit = False
    return every.reshape(rows, columns)


def release() -> None:
    """Return the memory without arrays to the C library."""
    _kept.clear()


def _keep(memory: Array) -> None:
    if sum(size * len(some) for size, some in list(_kept.items())) + memory.size > MAX_KEPT:
        _kept.clear()
    _kept[memory.size].append(memory)


MAX_UNDIVIDED = 96
"""The order up to which the inverse of a triangle is one call; of more it is that of two halves and two products, which
takes .8 times the time at 800 rows."""

LOWER, LEFT, RIGHT, AS_IT_IS, TRANSPOSED = b"L", b"L", b"R", b"N", b"T"
"""The parameters of LAPACK."""

_NUMBERS = 8
"""Bytes of a number."""


class Routine(Protocol):
    """A routine, called with the addresses of its parameters."""

    def __call__(self, *addresses: object) -> None: ...


def factorise(matrix: Array) -> Array:
    """The factor L' (N, N) of a positive definite matrix L L', which it replaces; raises NotPositiveDefiniteError."""
    n, info = len(matrix), ctypes.c_int()
    _routine("dpotrf", 5)(LOWER, _int(n), _pointer(matrix), _int(n), ctypes.byref(info))
    if info.value:
        detail = f"expected a positive definite matrix of order {n}, leading minor {info.value} is not"
        raise NotPositiveDefiniteError(detail)
    return matrix


def inverse_of_factor(factor: Array, out: Array) -> Array:
    """(L L')^-1 (N, N) from the factor L' (N, N), into `out` (N, N)."""
    n, info = len(factor), ctypes.c_int()
    np.copyto(out, factor)
    _invert_lower(_pointer(out), n, n)
    _routine("dlauum", 5)(LOWER, _int(n), _pointer(out), _int(n), ctypes.byref(info))
    return out


def inverse_of_triangle(factor: Array) -> Array:
    """L^-1 (N, N) in its lower triangle, from the factor L' (N, N); above it are other numbers."""
    out = empty_matrix(*factor.shape)
    np.copyto(out, factor)
    _invert_lower(_pointer(out), len(out), len(out))
    return out.T


def _invert_lower(first: int, n: int, stride: int) -> None:
    """Replace the lower triangle L of order n at the address `first` by L^-1.

    [[A, 0], [B, C]]^-1 = [[A^-1, 0], [-C^-1 B A^-1, C^-1]].
    """
    step, info = _int(stride), ctypes.c_int()
    if n <= MAX_UNDIVIDED:
        _routine("dtrtri", 6)(LOWER, AS_IT_IS, _int(n), first, step, ctypes.byref(info))
        return
    k = n // 2
    below, last = first + _NUMBERS * k, first + _NUMBERS * (k * stride + k)
    _invert_lower(first, k, stride)
    _invert_lower(last, n - k, stride)
    for side, triangle, factor in ((LEFT, last, -1.0), (RIGHT, first, 1.0)):
        scale = ctypes.c_double(factor)
        sizes = (_int(n - k), _int(k), ctypes.byref(scale))
        _routine("dtrmm", 11)(side, LOWER, AS_IT_IS, AS_IT_IS, *sizes, triangle, step, below, step)


def solve_with_factor(factor: Array, right: Array) -> Array:
    """(L L')^-1 right (N, k), from the factor L' (N, N)."""
    n, info, solution = len(factor), ctypes.c_int(), np.array(right, order="F")
    sizes = (_int(n), _int(right.shape[1]))
    routine = _routine("dpotrs", 8)
    routine(LOWER, *sizes, _pointer(factor), _int(n), _pointer(solution), _int(n), ctypes.byref(info))
    return solution


def solve_triangle(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    """L^-1 right, or L^-T right where it is `transposed`, (N, k), from the factor L' (N, N)."""
    n, info, solution = len(factor), ctypes.c_int(), np.array(right, order="F")
    flags = (LOWER, TRANSPOSED if transposed else AS_IT_IS, AS_IT_IS)
    operands = (_pointer(factor), _int(n), _pointer(solution), _int(n))
    _routine("dtrtrs", 10)(*flags, _int(n), _int(right.shape[1]), *operands, ctypes.byref(info))
    return solution


def solve_rows(factor: Array, rows: Array) -> Array:
    """L^-1 y of each of the rows y of `rows` (k, N), in C order, which it replaces; from the factor L' (N, N)."""
    n, info = len(factor), ctypes.c_int()
    operands = (_pointer(factor), _int(n), _pointer(rows), _int(n))
    _routine("dtrtrs", 10)(LOWER, AS_IT_IS, AS_IT_IS, _int(n), _int(len(rows)), *operands, ctypes.byref(info))
    return rows


def solve_columns(factor: Array, columns: Array) -> Array:
    """L^-1 columns (N, k), in C order, which it replaces; from the factor L' (N, N)."""
    (n, k), one = columns.shape, ctypes.c_double(1.0)
    given = (ctypes.byref(one), _pointer(factor), _int(n), _pointer(columns), _int(k))
    _routine("dtrsm", 11)(RIGHT, LOWER, TRANSPOSED, AS_IT_IS, _int(k), _int(n), *given)
    return columns


def triangular_product(factor: Array, right: Array) -> Array:
    """L right (N, k), from the factor L' (N, N)."""
    n, one, product = len(factor), ctypes.c_double(1.0), np.array(right, order="F")
    sizes = (_int(n), _int(right.shape[1]), ctypes.byref(one))
    operands = (_pointer(factor), _int(n), _pointer(product), _int(n))
    _routine("dtrmm", 11)(LEFT, LOWER, AS_IT_IS, AS_IT_IS, *sizes, *operands)
    return product


def symmetric_product(matrix: Array, right: Array) -> Array:
    """A right (N, k), of a symmetric A (N, N)."""
    n, k = right.shape
    right = np.asfortranarray(right)
    product = empty_matrix(k, n).T
    one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
    given = (ctypes.byref(one), _pointer(matrix), _int(n), _pointer(right), _int(n))
    _routine("dsymm", 12)(LEFT, LOWER, _int(n), _int(k), *given, ctypes.byref(zero), _pointer(product), _int(n))
    return product


def _int(value: int) -> object:
    return ctypes.byref(ctypes.c_int(value))


def _pointer(array: Array) -> int:
    """The address of the first number, in a third of the time of `array.ctypes`."""
    address: int = array.__array_interface__["data"][0]
    return address


@cache
def _routine(name: str, parameters: int) -> Routine:
    """A routine of LAPACK or BLAS, all of whose parameters are pointers."""
    capsules = {**scipy.linalg.cython_blas.__pyx_capi__, **scipy.linalg.cython_lapack.__pyx_capi__}
    name_of, pointer_to = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_to.restype, pointer_to.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer = pointer_to(capsules[name], name_of(capsules[name]))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * parameters)(pointer)


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
