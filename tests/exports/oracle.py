"""The evidence of an exported version from its document and training rows alone: numpy, in the form of N x N matrices.

Nothing of the service is called, and nothing is written as it is there: covariances of targets where it has posteriors
of weights, sums over rows where it has factors.
"""

from math import lgamma, log, pi
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.types import Array

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]

JITTER = 1e-5
"""That of a document that states none."""


def gaussian_columns(X: Array, part: Members) -> Array:
    """exp(-|u - z|^2) of bent and scaled inputs u and centres z, (N, M)."""
    widths = np.array(part["widths"], np.float64)
    centres = np.array(part["centres"], np.float64).reshape(-1, X.shape[1])

    def mapped(rows: Array) -> Array:
        if part["skew"] is None:
            return np.asarray(rows / widths)
        skew, b = np.array(part["skew"], np.float64), np.exp(np.array(part["tail"], np.float64))
        q = b * np.arcsinh(rows) - skew
        return np.asarray((np.sinh(q) + np.sinh(skew)) / (b * np.cosh(skew)) / widths)

    apart = mapped(X)[:, None, :] - mapped(centres)[None, :, :]
    return np.asarray(np.exp(-np.square(apart).sum(axis=2)))


def columns(X: Array, model: Members) -> tuple[Array, Array, Array]:
    """The kernel's columns E (N, m), the others F (N, F), and E_mm (m, m), in the order of the document's functions."""
    kernels, others, own = [], [], np.empty((0, 0))
    parts = model["functions"]
    assert isinstance(parts, list)
    for part in parts:
        assert isinstance(part, dict)
        match part["type"]:
            case "kernel":
                centres = np.array(part["centres"], np.float64).reshape(-1, X.shape[1])
                kernels.append(gaussian_columns(X, part))
                own = gaussian_columns(centres, part)
            case "bias":
                others.append(np.ones((len(X), 1)))
            case "inputs":
                others.append(X[:, np.array(part["columns"], np.intp)])
            case unknown:
                raise ValueError(f"expected a kernel, a bias or the inputs, got {unknown}")
    E = np.hstack([np.empty((len(X), 0)), *kernels])
    return E, np.hstack([np.empty((len(X), 0)), *others]), own


def prior_covariance(X: Array, model: Members) -> tuple[Array, Array]:
    """The covariance K (N, N) of the latent on the rows, and the variances c (N,) that the functions do not reach."""
    E, F, own = columns(X, model)
    alpha = np.array(model["alpha"], np.float64)
    others = alpha[E.shape[1] :]
    K = (F / others) @ F.T
    amplitude = model["signal_variance"]
    if amplitude is None:
        return K + (E / alpha[: E.shape[1]]) @ E.T, np.zeros(len(X))
    assert isinstance(amplitude, float)
    jitter = JITTER if model.get("jitter") is None else float(str(model["jitter"]))
    through = E @ np.linalg.solve(own + jitter * np.eye(len(own)), E.T) if len(own) else np.zeros_like(K)
    return K + amplitude * through, amplitude * np.maximum(1.0 - through.diagonal(), 0.0)


def log_normal(t: Array, C: Array) -> float:
    """log N(t; 0, C), summed over the columns of t."""
    T = t.reshape(len(t), -1)
    _, determinant = np.linalg.slogdet(C)
    return -0.5 * float(T.shape[1] * (len(t) * log(2.0 * pi) + determinant) + np.vdot(T, np.linalg.solve(C, T)))


def gaussian_evidence(t: Array, K: Array, c: Array, noise: Array, rho: float = 0.0) -> float:
    """log N(t; 0, K + noise), exact where c = 0, else the bound [TITSIAS2009], or power EP's [BUI2017]."""
    latents = t.reshape(len(t), -1).shape[1]
    if rho:
        paid = (1.0 - rho) / (2.0 * rho) * np.log1p(rho * c / noise).sum()
        return log_normal(t, K + np.diag(noise + rho * c)) - latents * float(paid)
    return log_normal(t, K + np.diag(noise)) - 0.5 * latents * float(np.sum(c / noise))


def laplace_evidence(t: Array, K: Array, likelihood: str) -> float:
    """Laplace's approximation [RASMUSSEN2006, algorithm 3.1 and eq. 3.32]: Newton's method in f = K a."""
    f, a = np.zeros(len(t)), np.zeros(len(t))

    def derivatives(f: Array) -> tuple[float, Array, Array]:
        if likelihood == "bernoulli":
            p = 1.0 / (1.0 + np.exp(-f))
            return float(np.sum(t * f - np.logaddexp(0.0, f))), t - p, p * (1.0 - p)
        rate = np.exp(f)
        return float(np.sum(t * f - rate)) - sum(lgamma(count + 1.0) for count in t.tolist()), t - rate, rate

    for _ in range(200):
        _, gradient, W = derivatives(f)
        root = np.sqrt(W)
        B = np.eye(len(t)) + root[:, None] * K * root
        b = W * f + gradient
        step = b - root * np.linalg.solve(B, root * (K @ b)) - a
        share, before = 1.0, derivatives(f)[0] - 0.5 * float(a @ f)
        while share > 1e-8:
            tried = a + share * step
            if derivatives(K @ tried)[0] - 0.5 * float(tried @ (K @ tried)) >= before - 1e-12:
                break
            share *= 0.5
        a = a + share * step
        f = K @ a
    value, _, W = derivatives(f)
    root = np.sqrt(W)
    _, determinant = np.linalg.slogdet(np.eye(len(t)) + root[:, None] * K * root)
    return float(value - 0.5 * float(a @ f) - 0.5 * float(determinant))


def variational_evidence(X: Array, t: Array, model: Members, ell: "Expectation") -> float:
    """E log p(t | f) - KL at the document's own posterior of the weights, the latents' variances with what is left c.

    `ell` of means (N, K) and variances (N,) is the expected log density of each row or a bound of it. For several
    latents they share the covariance.
    """
    E, F, own = columns(X, model)
    K, m = ell.latents, E.shape[1]
    mean = np.array(model["mean"], np.float64).reshape(-1, K)
    P = np.hstack([E, F])
    S = np.array(model["covariance"], np.float64).reshape(P.shape[1], P.shape[1])
    alpha = np.array(model["alpha"], np.float64)
    precision = np.diag(alpha)
    amplitude = model["signal_variance"]
    if amplitude is not None:
        jitter = JITTER if model.get("jitter") is None else float(str(model["jitter"]))
        precision[:m, :m] = (own + jitter * np.eye(m)) / float(str(amplitude))
    _, c = prior_covariance(X, model)
    v = np.einsum("nr,rs,ns->n", P, S, P) + c
    _, of_prior = np.linalg.slogdet(precision)
    _, of_posterior = np.linalg.slogdet(S)
    fit = float(np.einsum("rk,rs,sk->", mean, precision, mean))
    divergence = 0.5 * (K * (float(np.trace(precision @ S)) - len(S) - of_prior - of_posterior) + fit)
    return float(ell(P @ mean, v, t).sum() - divergence)


class Expectation:
    """The expected log densities of rows, by quadrature or by the bound that the likelihood is learned with."""

    def __init__(self, likelihood: Members, scale: float | None) -> None:
        self.likelihood, self.scale = likelihood, scale
        self.latents = int(str(likelihood["classes"])) if likelihood["type"] == "categorical" else 1

    def __call__(self, f: Array, v: Array, t: Array) -> Array:
        """(N,) of means (N, K), variances (N,) and targets (N,)."""
        match self.likelihood["type"]:
            case "poisson":
                rate = np.exp(f[:, 0] + 0.5 * v)
                return np.asarray(t * f[:, 0] - rate - np.array([lgamma(count + 1.0) for count in t.tolist()]))
            case "bernoulli":
                z, w = np.polynomial.hermite_e.hermegauss(40)
                latent = f + np.sqrt(v)[:, None] * z
                return np.asarray(t * f[:, 0] - np.logaddexp(0.0, latent) @ (w / w.sum()))
            case "student_t":
                assert self.scale is not None
                dof = float(str(self.likelihood["degrees_of_freedom"]))
                squares = (np.square(t - f[:, 0]) + v) / self.scale**2
                constant = lgamma(0.5 * (dof + 1.0)) - lgamma(0.5 * dof) - 0.5 * log(dof * pi) - log(self.scale)
                return np.asarray(constant - 0.5 * (dof + 1.0) * np.log1p(squares / dof))
            case "categorical":
                return np.array([_tilted(row, float(s), int(k)) for row, s, k in zip(f, v, t, strict=True)])
            case unknown:
                raise ValueError(f"expected a likelihood without closed form, got {unknown}")


def _tilted(f: Array, v: float, k: int) -> float:
    """f_k less the least of 1/2 v |a|^2 + log sum exp(f + (1 - 2 a) v/2) over a, by damped fixed points."""
    a = np.full(len(f), 1.0 / len(f))
    for _ in range(20_000):
        exponents = f + (0.5 - a) * v
        p = np.exp(exponents - exponents.max())
        there = p / p.sum()
        if float(np.abs(there - a).max()) < 1e-13:
            break
        a = a + (there - a) / (1.0 + 0.5 * v)
    exponents = f + (0.5 - a) * v
    total = float(np.log(np.exp(exponents - exponents.max()).sum()) + exponents.max())
    return float(f[k]) - 0.5 * v * float(a @ a) - total


def log_gamma_densities(values: Array, shape: float, rate: float) -> float:
    """The log densities of the logarithms of `values` under Gamma(shape, rate), without normaliser where improper."""
    logs = shape * np.log(values) - rate * values
    normaliser = shape * log(rate) - lgamma(shape) if shape and rate else 0.0
    return float(logs.sum()) + len(values) * normaliser


def price(candidates: int, functions: int) -> float:
    """Each function pays log((M - r)/(r + 1)) as the r others before it are in, and a nat at least."""
    return float(sum(max(log((candidates - r) / (r + 1.0)), 1.0) for r in range(functions)))
