"""A full Gaussian process under Gaussian noise at some rows: the evidence with its gradient and expected information,
and the predictions of rows that are left out [THEORY 12].

C = diag(1/beta) + s K + F diag(1/alpha) F', P = C^-1, v = P t. Matrices are computed by strips of rows that stay in
the processor's cache, and only their upper triangles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from relevance_bayes.core.concurrency import lazy
from relevance_bayes.core.inference.posterior import as_columns
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, packed_gradient
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.linalg import (
    FAR,
    cholesky,
    empty_matrix,
    factorise,
    inverse_of_factor,
    inverse_of_triangle,
    log_determinant,
    solve_columns,
    solve_lower,
    solve_rows,
    solve_triangle,
    solve_with_factor,
    symmetric_product,
    triangular_product,
)
from relevance_bayes.core.types import Array, Indices

STRIP = 64
"""Rows of a matrix that are computed at once."""

PROBES, FEW_PROBES, MAX_ROWS_EXACT = 16, 2, 64
"""Random vectors by which traces of the expected information are estimated, but of few rows these are exact; and few of
them, where the information of many entries is computed often."""

STEP = 1e-4
"""Step of the differences of a kernel that is no function of squared distances."""

MAX_ROWS_OF_DIFFERENCES = 250
"""Rows on which the information of such a kernel is measured; it is scaled to all."""


@dataclass(frozen=True, eq=False)
class ExactProcess:
    """The process at `rows` with hyperparameters h: `value` = log p(t) in nats, summed over the targets of a row.

    `lower` (N, N) is the Cholesky factor of C in its lower triangle; above it are other numbers. `solved` v is (N, K).
    `slopes` (N, N) has dk / d|u - z|^2 in its upper triangle, where the kernel is a function of squared distances, and
    `correlation` (N, N) is K where it is none: the other is None.
    """

    rows: ProcessRows
    kernel: Covariance
    h: Hyperparameters
    value: float
    lower: Array
    solved: Array
    slopes: Array | None
    correlation: Array | None

    @classmethod
    def of(
        cls, rows: ProcessRows, kernel: Covariance, h: Hyperparameters, *, with_slopes: bool = True
    ) -> "ExactProcess":
        """Factorise C; raises NotPositiveDefiniteError. O(N^3). The gradient and the information need slopes."""
        U, t = _centred(h.input_map(rows.X)), as_columns(rows.t)
        slopes = correlation = None
        if isinstance(kernel, Radial) and is_of_squares(kernel, U, h):
            slopes = empty_matrix(len(U), len(U)) if with_slopes else None
            C = _covariance(kernel, U, h.signal_variance, rows.F / np.sqrt(h.alpha), slopes)
        else:
            correlation = h.covariance(kernel)(U, U)
            C = np.ascontiguousarray(h.signal_variance * correlation + (rows.F / h.alpha) @ rows.F.T)
        C.flat[:: len(C) + 1] += 1.0 / rows.precision(h.beta)
        factor = factorise(C)
        solved, lower = solve_with_factor(factor, t), factor.T
        size = len(C) * np.log(2.0 * np.pi) + log_determinant(lower)
        value = -0.5 * (t.shape[1] * size + float(np.vdot(t, solved)))
        return cls(rows, kernel, h, float(value), lower, solved, slopes, correlation)

    @lazy
    def inverse(self) -> Array:
        """P (N, N) in its upper triangle; below it are other numbers."""
        return inverse_of_factor(self.lower.T, empty_matrix(*self.lower.shape))

    @lazy
    def gradient(self) -> Array:
        """d log p(t) / d theta, (p,)."""
        return self._gradient(self.solved, np.zeros(0, np.intp), np.empty((len(self.solved), 0)))

    def _gradient(self, solved: Array, left_out: Indices, reached: Array) -> Array:
        """The gradient (p,) from M = 1/2 (v v' - K (P - B B')): v (N, K), B (N, b) = `reached`.

        Rows and columns `left_out` (n,) of M are zero. With W = M o s dk/d|u - z|^2, dL/dU = 4 (diag(W 1) U - W U).
        """
        h, F, latents, N = self.h, self.rows.F, solved.shape[1], len(solved)
        diagonal = self.inverse.diagonal() - np.vecdot(reached, reached)
        diagonal = 0.5 * (np.vecdot(solved, solved) - latents * diagonal)
        diagonal[left_out] = 0.0
        noise = float(np.sum(diagonal / self.rows.precision(h.beta)))
        explained = np.vecdot(F.T, symmetric_product(self.inverse, F).T) - np.square(reached.T @ F).sum(axis=0)
        of_alpha = 0.5 * (np.square(F.T @ solved).sum(axis=1) - latents * explained) / h.alpha
        whole = 0.5 * (float(np.vdot(solved, as_columns(self.rows.t))) - latents * (N - len(left_out)))
        signal = whole - noise - float(of_alpha.sum())
        dU, logits = self._input_gradient(solved, reached)
        dU[left_out] = 0.0
        return packed_gradient(-noise, signal, -of_alpha, h.input_map.pull(self.rows.X, dU), logits)

    def _input_gradient(self, solved: Array, reached: Array) -> tuple[Array, Array]:
        """dL/dU (N, d), and the gradient in the logits of terms."""
        h, latents = self.h, solved.shape[1]
        U = _centred(h.input_map(self.rows.X))
        if self.slopes is None:
            M = np.triu(solved @ solved.T - latents * (self.inverse - reached @ reached.T))
            M += np.triu(M, 1).T
            return h.terms.pull_symmetric(self.kernel, U, 0.5 * h.signal_variance * M, self.correlation)
        left = empty_matrix(len(U), latents + reached.shape[1])
        left[:, :latents], left[:, latents:] = solved, reached
        right = left if latents == 1 else np.hstack([solved, latents * reached])
        ones = np.hstack([U, np.ones((len(U), 1))])
        sums = np.zeros_like(ones)
        scratch = empty_matrix(STRIP, len(U))
        for first, last in _strips(len(U)):
            W = np.matmul(left[first:last], right[first:].T, out=scratch[: last - first, : len(U) - first])
            P = self.inverse[first:last, first:]
            W -= P if latents == 1 else latents * P
            W *= self.slopes[first:last, first:]
            W[:, : last - first] = np.triu(W[:, : last - first], 1)
            sums[first:last] += W @ ones[first:]
            sums[first:] += W.T @ ones[first:last]
        dU: Array = 2.0 * h.signal_variance * (sums[:, -1:] * U - sums[:, :-1])
        return dU, h.terms.logits

    @lazy
    def information(self) -> Array:
        """The expected information (p, p) by PROBES."""
        return self.information_by(PROBES)

    def information_by(self, number: int) -> Array:
        """The expected information (p, p): 1/2 tr(P C_i P C_j), C_i = dC/dtheta_i, times the targets of a row.

        By `number` of `probes` z: with w = L^-T z and y_i = L^-1 C_i w it is the sum of y_i'y_j / 2, which is positive
        semidefinite.
        """
        N = len(self.rows.t)
        if self.slopes is None and N > MAX_ROWS_OF_DIFFERENCES:
            some = np.linspace(0, N - 1, MAX_ROWS_OF_DIFFERENCES).astype(np.intp)
            few = ExactProcess.of(self.rows.take(some), self.kernel, self.h)
            scaled: Array = few.information_by(number) * (N / len(some))
            return scaled
        z = probes(self.rows, number)
        w = solve_triangle(self.lower.T, z, transposed=True)
        noise = w / as_columns(np.broadcast_to(self.rows.precision(self.h.beta), N))
        F, alpha = self.rows.F, self.h.alpha
        shares = (F.T @ w) / alpha[:, None]
        signal = triangular_product(self.lower.T, z) - noise - F @ shares
        parts = [-noise, signal, *self._slopes_times(w)]
        q, vectors = z.shape[1], empty_matrix(len(parts) * z.shape[1] + len(alpha), N)
        for k, part in enumerate(parts):
            vectors[k * q : (k + 1) * q] = part.T
        vectors[len(parts) * q :] = F.T
        solve_rows(self.lower.T, vectors)
        solved, of_columns = np.split(vectors, [len(parts) * q])
        flat = empty_matrix(len(parts) + len(alpha), z.size)
        by_probe = flat.reshape(len(flat), q, N)
        by_probe[:2], by_probe[2 + len(alpha) :] = np.split(solved.reshape(-1, q, N), [2])
        np.multiply(-shares[:, :, None], of_columns[:, None, :], out=by_probe[2 : 2 + len(alpha)])
        information: Array = flat @ flat.T
        information *= 0.5 * self.solved.shape[1]
        return information

    def _slopes_times(self, w: Array) -> Iterator[Array]:
        """C_i w (N, q) for each entry of theta of the input map and the terms; w (N, q)."""
        if self.slopes is None:
            yield from self._differences_times(w)
            return
        h, s = self.h, self.h.signal_variance
        U = _centred(h.input_map(self.rows.X))
        warps = [each for each in h.input_map.warp_slopes(self.rows.X) if each is not None]
        factors = [np.ones(len(U)), *U.T, *np.square(U).T]
        for slopes in warps:
            factors += [*slopes.T, *(slopes * U).T]
        N, q = w.shape
        rights = empty_matrix(len(factors) * q, N).reshape(len(factors), q, N)
        for factor, right in zip(factors, rights, strict=True):
            np.multiply(factor, w.T, out=right)
        products = symmetric_product(self.slopes, rights.reshape(-1, N).T)
        S = iter(np.split(products, len(factors), axis=1))
        alone = next(S)
        d = U.shape[1]
        by_input, by_square = [next(S) for _ in range(d)], [next(S) for _ in range(d)]
        of_widths = [
            -2.0 * s * (u[:, None] ** 2 * alone + square - 2.0 * u[:, None] * one)
            for u, one, square in zip(U.T, by_input, by_square, strict=True)
        ]
        yield from of_widths if len(h.input_map.widths) == d else [sum(of_widths, np.zeros_like(w))]
        for slopes in warps:
            of_slopes, of_products = [next(S) for _ in range(d)], [next(S) for _ in range(d)]
            for k, (u, slope) in enumerate(zip(U.T, slopes.T, strict=True)):
                here = (u * slope)[:, None] * alone + of_products[k]
                yield 2.0 * s * (here - u[:, None] * of_slopes[k] - slope[:, None] * by_input[k])

    def _differences_times(self, w: Array) -> Iterator[Array]:
        """`_slopes_times` by differences of the kernel."""
        theta, first = self.h.packed(), 2 + len(self.h.alpha)
        for place in range(first, len(theta)):
            sides = []
            for step in (STEP, -STEP):
                moved = theta.copy()
                moved[place] += step
                there = self.h.unpacked(moved)
                U = there.input_map(self.rows.X)
                sides.append(there.covariance(self.kernel)(U, U) @ w)
            yield self.h.signal_variance * (sides[0] - sides[1]) / (2.0 * STEP)

    def predict(self, X: Array, F: Array) -> tuple[Array, Array]:
        """Mean and variance (n,) of the latent at X (n, d), F (n, F) the columns without kernel there; one target.

        [RASMUSSEN2006, eqs 2.25 and 2.26].
        """
        h = self.h
        U, V = h.input_map(self.rows.X), h.input_map(X)
        columns = h.signal_variance * h.covariance(self.kernel)(U, V) + (self.rows.F / h.alpha) @ F.T
        reached = solve_triangle(self.lower.T, columns)
        prior = h.signal_variance + np.square(F) @ (1.0 / h.alpha)
        return columns.T @ self.solved[:, 0], np.maximum(prior - np.square(reached).sum(axis=0), 0.0)

    def without(self, fold: Indices) -> "WithoutFold":
        """The process without the rows `fold` (f,), at the same hyperparameters: nothing of order N^3. One target."""
        columns = symmetric_rows(self.inverse, fold)
        root = cholesky(columns[:, fold])
        v = self.solved[fold, 0]
        residual = scipy.linalg.lapack.dpotrs(root, v, lower=1)[0]
        reached = solve_columns(root.T, columns).T
        roots = solve_lower(root, np.eye(len(fold)))
        log_density = -0.5 * (len(fold) * np.log(2.0 * np.pi) - log_determinant(root) + float(v @ residual))
        variance = np.square(roots).sum(axis=0)
        return WithoutFold(self, fold, reached, self.rows.t[fold] - residual, variance, float(self.value - log_density))


@dataclass(frozen=True, eq=False)
class WithoutFold:
    """A process at its rows without those of a fold [THEORY 12].

    With Q = P_FF = R R', B = P_.F R^-T and w = R^-1 v_F: t_F - m_F = Q^-1 v_F, the covariance of t_F given the others
    is Q^-1, and the weights of the others are v - B w. `reached` is B (N, f), of which the rows of the fold are R;
    `mean` and `variance` (f,) are those of the fold's targets given the others, noise included; `value` = log p of the
    others.
    """

    process: ExactProcess
    fold: Indices
    reached: Array
    mean: Array
    variance: Array
    value: float

    @property
    def h(self) -> Hyperparameters:
        """The hyperparameters of the process."""
        return self.process.h

    @lazy
    def gradient(self) -> Array:
        """d value / d theta, (p,)."""
        root = self.reached[self.fold]
        solved = self.process.solved - self.reached @ solve_lower(root, self.process.solved[self.fold])
        solved[self.fold] = 0.0
        return self.process._gradient(solved, self.fold, self.reached)


def without_each(process: ExactProcess, sizes: Sequence[int]) -> Iterator[tuple[Array, Array]]:
    """Mean and variance (f,) of the targets of each fold given all others, noise included: folds are `sizes` rows each,
    one after the other, of all rows of the process.

    With Z = L^-1, Q = P_FF = Z_.F'Z_.F, where only the rows from the fold's first on are not 0. One target.
    """
    inverse = inverse_of_triangle(process.lower.T)
    stop = 0
    for size in sizes:
        fold = slice(stop, stop := stop + size)
        columns = np.tril(inverse[fold.start :, fold])
        root = cholesky(columns.T @ columns)
        residual = scipy.linalg.lapack.dpotrs(root, process.solved[fold, 0], lower=1)[0]
        roots = solve_lower(root, np.eye(size))
        yield process.rows.t[fold] - residual, np.square(roots).sum(axis=0)


def is_of_squares(kernel: Radial, U: Array, h: Hyperparameters) -> bool:
    """True where squared distances of U (N, d) may be computed by products, and one kernel is the whole process."""
    is_plain = not kernel.has_kink and not h.terms.alone
    return is_plain and bool(np.square(U).sum(axis=1).max(initial=0.0) <= FAR)


def symmetric_rows(upper: Array, rows: Indices) -> Array:
    """The rows (n, N) of a symmetric matrix (N, N) given by its `upper` triangle."""
    some = empty_matrix(len(rows), len(upper))
    np.take(upper, rows, axis=0, out=some)
    for row, place in zip(some, rows, strict=True):
        row[:place] = upper[:place, place]
    return some


def _covariance(kernel: Radial, U: Array, s: float, trend: Array, slopes: Array | None) -> Array:
    """The upper triangle of s K + G G' (N, N), G (N, F) = `trend`; U is centred.

    `slopes` (N, N), where it is given, takes dk / d|u - z|^2 in its upper triangle.
    """
    N = len(U)
    squares = np.square(U).sum(axis=1)[:, None]
    ones = np.ones((N, 1))
    left, right = np.hstack([-2.0 * U, ones, squares]), np.hstack([U, squares, ones])
    C, scratch = empty_matrix(N, N), empty_matrix(STRIP, N)
    for first, last in _strips(N):
        there = np.matmul(left[first:last], right[first:].T, out=scratch[: last - first, : N - first])
        np.maximum(there, 0.0, out=there)
        np.fill_diagonal(there, 0.0)
        if slopes is None:
            k = kernel.of_squares(np, there)
        else:
            k, slopes[first:last, first:] = kernel.with_slope(there)
        strip = np.multiply(k, s, out=C[first:last, first:])
        if trend.shape[1]:
            strip += trend[first:last] @ trend[first:].T
    return C


def probes(rows: ProcessRows, number: int) -> Array:
    """Vectors z (N, q) for the trace of a matrix A (N, N): the sum of z'A z is tr A, or has it as its mean.

    Of at most MAX_ROWS_EXACT rows those of the identity; of more `number` vectors of random signs over its root, the
    same for a row whatever the order of the rows and their units.
    """
    N = len(rows.t)
    if N <= MAX_ROWS_EXACT:
        return np.eye(N)
    signs = np.empty((N, number))
    signs[rows.order] = np.random.default_rng(0).integers(0, 2, signs.shape) * 2.0 - 1.0
    return np.asarray(signs / np.sqrt(number))


def _strips(N: int) -> Iterator[tuple[int, int]]:
    for first in range(0, N, STRIP):
        yield first, min(first + STRIP, N)


def _centred(U: Array) -> Array:
    centred: Array = U - U.mean(axis=0)
    return centred
