"""Models of scikit-learn as sums of Gaussians. The package is not imported, only its objects' attributes are used.

Each has its own measure of width; here it is the papers' r, exp(-|x - z|^2 / r^2): gamma^-1/2 of a support vector
machine, sqrt 2 times a process's length scale or a kernel density's bandwidth.
"""

from dataclasses import dataclass
from math import exp, log, pi, sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from relevance_bayes.client.gaussian_expansion import Array, GaussianExpansion, refused

__all__ = ["GaussianExpansion", "expansion_of"]


@runtime_checkable
class _Pair(Protocol):
    """A sum or a product of two kernels."""

    k1: object
    k2: object


@runtime_checkable
class _Constant(Protocol):
    constant_value: float


@runtime_checkable
class _Lengths(Protocol):
    length_scale: ArrayLike


@dataclass(frozen=True)
class KernelTerms:
    """A kernel `constant` + `scale` exp(-|x - z|^2 / width^2); white noise is 0 between distinct points and left out.

    `width` is None only with a `scale` of 0.
    """

    constant: float = 0.0
    scale: float = 0.0
    width: tuple[float, ...] = ()

    def times(self, other: "KernelTerms") -> "KernelTerms":
        """Return the product; raises ClientError where it has other terms."""
        if self.scale and other.scale:
            raise refused("got a product of two RBFs")
        scaled, factor = (self, other) if self.scale else (other, self)
        return KernelTerms(scaled.constant * factor.constant, scaled.scale * factor.constant, scaled.width)

    def plus(self, other: "KernelTerms") -> "KernelTerms":
        """Return the sum; raises ClientError for two widths."""
        if self.scale and other.scale and self.width != other.width:
            raise refused(f"got a sum of RBFs of lengths {self.width} and {other.width}: there is one width for all")
        return KernelTerms(self.constant + other.constant, self.scale + other.scale, self.width or other.width)


def terms_of(kernel: object) -> KernelTerms:
    """Return a process's kernel between two distinct points."""
    match type(kernel).__name__, kernel:
        case "ConstantKernel", _Constant():
            return KernelTerms(constant=float(kernel.constant_value))
        case "WhiteKernel", _:
            return KernelTerms()
        case "RBF", _Lengths():
            lengths = np.atleast_1d(np.asarray(kernel.length_scale, np.float64))
            return KernelTerms(scale=1.0, width=tuple(float(length) * sqrt(2.0) for length in lengths))
        case "Sum", _Pair():
            return terms_of(kernel.k1).plus(terms_of(kernel.k2))
        case "Product", _Pair():
            return terms_of(kernel.k1).times(terms_of(kernel.k2))
        case name, _:
            raise refused(f"got a process with the kernel {name}")


MAX_LOG_HEIGHT = 600.0
"""The maximum magnitude of the log of a density's peaks."""


def expansion_of(estimator: object) -> GaussianExpansion:
    """Return the sum of `predict`, `decision_function` of two classes, or exp(`score_samples`) of a density.

    Raises ClientError, with the reason, for other than a fitted estimator of `POSSIBLE`.
    """
    match estimator:
        case SupportVectors():
            return _of_support_vectors(estimator)
        case Process():
            return _of_process(estimator)
        case KernelDensity():
            return _of_density(estimator)
        case _:
            raise refused(f"got {type(estimator).__name__}, which is another estimator or not fitted")


@runtime_checkable
class SupportVectors(Protocol):
    """A support vector machine: f = sum_j dual_coef_j k(x, z_j) + intercept."""

    kernel: str
    support_vectors_: Array
    dual_coef_: Array
    intercept_: Array
    _gamma: float
    """The number of gamma='scale'; `gamma` is that word."""


@runtime_checkable
class Process(Protocol):
    """A Gaussian process's mean: std sum_j alpha_j k(x, x_j) + mean, the last two of the targets where normalised."""

    kernel_: object
    X_train_: Array
    alpha_: Array
    _y_train_mean: ArrayLike
    _y_train_std: ArrayLike


class _Tree(Protocol):
    """The rows of a kernel density estimate; `sample_weight` is None for equal weights."""

    data: ArrayLike
    sample_weight: ArrayLike | None


@runtime_checkable
class KernelDensity(Protocol):
    """The mean of normal densities at the rows, of sd `bandwidth_`."""

    kernel: str
    metric: str
    bandwidth_: float
    tree_: _Tree


@runtime_checkable
class _Named(Protocol):
    feature_names_in_: Array


def _of_support_vectors(machine: SupportVectors) -> GaussianExpansion:
    name = type(machine).__name__
    if machine.kernel != "rbf":
        raise refused(f"got {name}(kernel={machine.kernel!r})")
    if not isinstance(machine.support_vectors_, np.ndarray):
        raise refused(f"got {name} of sparse rows; fit it on an array")
    if len(machine.dual_coef_) != 1:
        raise refused(f"got {name} of {len(machine.dual_coef_) + 1} classes, which have a function for each pair")
    weights, constant = machine.dual_coef_[0], float(machine.intercept_[0])
    return _expansion(machine, (float(machine._gamma) ** -0.5,), machine.support_vectors_, weights, constant)


def _of_process(process: Process) -> GaussianExpansion:
    alpha, mean, sd = (np.asarray(part, np.float64) for part in _process_parts(process))
    if alpha.ndim != 1 and alpha.shape[1:] != (1,):
        raise refused(f"got {type(process).__name__} of {alpha.shape[1]} targets")
    kernel = terms_of(process.kernel_)
    if not kernel.scale:
        raise refused(f"got the kernel {process.kernel_}, which has no RBF")
    weights = float(sd.item()) * alpha.reshape(-1)
    constant = float(mean.item()) + kernel.constant * float(weights.sum())
    return _expansion(process, kernel.width, process.X_train_, kernel.scale * weights, constant)


def _process_parts(process: Process) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
    return process.alpha_, process._y_train_mean, process._y_train_std


def _of_density(density: KernelDensity) -> GaussianExpansion:
    if density.kernel != "gaussian" or density.metric not in ("euclidean", "l2"):
        raise refused(f"got KernelDensity(kernel={density.kernel!r}, metric={density.metric!r})")
    rows = np.asarray(density.tree_.data, np.float64)
    given = density.tree_.sample_weight
    shares = np.ones(len(rows)) if given is None else np.asarray(given, np.float64)
    width = sqrt(2.0) * float(density.bandwidth_)
    log_height = -rows.shape[1] * log(sqrt(pi) * width)
    if abs(log_height) > MAX_LOG_HEIGHT:
        raise refused(f"got a density of {rows.shape[1]} inputs with a peak of e^{log_height:.0f}, beyond float64")
    return _expansion(density, (width,), rows, exp(log_height) * shares / shares.sum(), 0.0)


def _expansion(
    estimator: object, width: tuple[float, ...], centres: Array, weights: Array, constant: float
) -> GaussianExpansion:
    count = centres.shape[1]
    names = tuple(str(name) for name in estimator.feature_names_in_) if isinstance(estimator, _Named) else ()
    return GaussianExpansion(
        width=width[0] if len(width) == 1 else width,
        centres=np.asarray(centres, np.float64),
        weights=np.asarray(weights, np.float64),
        constant=constant,
        inputs=names or tuple(f"x{number}" for number in range(1, count + 1)),
    )
