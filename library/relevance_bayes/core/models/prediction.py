"""Predictive distributions of a model, and of each training row from all others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.basis import KernelFunctions, evaluate
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.folds import subset
from relevance_bayes.core.inference.evidence import TINY
from relevance_bayes.core.inference.posterior import Augmented
from relevance_bayes.core.likelihoods import OneAgainstRest
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian, NumberPrediction, Prediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction, SharePrediction
from relevance_bayes.core.linalg import factors_of_sum, inverse_of_upper, light_cholesky
from relevance_bayes.core.log_density import HALF_UNIT, min_log_density
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.priors import Whitening
from relevance_bayes.core.rows import Rows
from relevance_bayes.core.types import Array, ForRows, Mask

__all__ = [
    "FIGURES",
    "ClassPrediction",
    "LatentGaussian",
    "Measured",
    "NumberPrediction",
    "Prediction",
    "Ready",
    "RealPrediction",
    "chunks",
    "latent",
    "predict",
    "prior_variance",
    "scores",
    "whitened",
    "with_tails",
]

BLOCK_BYTES = 2**20
"""Bytes of the model's columns that are computed at once, which stay in the caches of a core."""

MIN_ROWS = 256
"""The least number of rows computed at once: with fewer, products with a large model's factors are bound by memory."""


@dataclass(frozen=True, eq=False)
class Ready:
    """A model factorised for predictions.

    `root` (R, r) with root root' = Sigma, lower triangular but where the process is exact; `whitening` of the kernel
    functions under a Gaussian process prior, `augmented` under an independent one with an augmentation. `products`
    (R, K + r + m) are the factors that a row's columns are multiplied by, side by side: the mean of K latents, `root`,
    and L^-T of the m vectors that are whitened.
    """

    model: Model
    root: Array
    whitening: Whitening | None
    augmented: Augmented | None
    products: Array
    noise: "Ready | None" = None
    is_exact: bool = False

    @classmethod
    def of(cls, model: Model) -> "Ready":
        """The model factorised; raises NotPositiveDefiniteError."""
        # |L'p|^2 can't fall below zero, as p'Sigma p can in floating point.
        # Scaled, so that the Cholesky factor is accurate in any units of the weights.
        scale = np.sqrt(model.covariance.diagonal())
        root = scale[:, None] * light_cholesky(model.covariance / np.outer(scale, scale))
        whitening = _whitening(model)
        inverse = None if whitening is None else inverse_of_upper(whitening.lower.T)
        if model.is_exact and inverse is not None:
            root = _of_all_weights(model, inverse, root)
        products = [model.mean if model.mean.ndim > 1 else model.mean[:, None], root]
        if inverse is not None:
            products.append(np.zeros((len(root), len(inverse))))
            products[-1][: len(inverse)] = inverse
        noise = None if model.log_noise is None else cls.of(model.log_noise.model)
        return cls(model, root, whitening, _augmented(model), np.concatenate(products, axis=1), noise, model.is_exact)

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[Prediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,); raises DataError.

        `noise_sd` (N,) may be given where the training rows had their own, else it is the model's.
        """
        found = self.checked(X, noise_sd)
        noise = self._noise_sd(X) if noise_sd is None else noise_sd
        prediction = self.model.likelihood.predictive(found, noise)
        return with_tails(prediction, self.model), found.support

    def checked(self, X: Array, noise_sd: Array | None) -> LatentGaussian:
        """The latent at X (N, d); raises DataError where X or `noise_sd` does not fit the model."""
        if X.ndim != 2 or X.shape[1] != self.model.inputs:
            raise DataError(f"expected X (N, {self.model.inputs}), got shape {X.shape}")
        if noise_sd is not None and not (self.model.likelihood.noise_by_row and noise_sd.shape == (len(X),)):
            raise DataError(f"expected noise sds for {len(X)} rows, and only where those learned from had their own")
        return self.latent(X)

    def _noise_sd(self, X: Array) -> Array | float | None:
        """The model's own at X (N, d): of each row where it depends on the inputs."""
        second = self.model.log_noise
        if second is None or self.noise is None:
            return self.model.noise_sd
        return np.sqrt(second.variance(self.noise.latent(X)))

    def latent(self, X: Array) -> LatentGaussian:
        """Mean p'mu, variance p'Sigma p and residual variance at X (N, d).

        Under a Gaussian process the residual is c = s (1 - e'E_mm^-1 e), and the support 1 - c/s; under an independent
        prior it is the variance of the augmenting function. Beyond the model's `input_range` all are those at its
        bounds.
        """
        if len(X) <= MIN_ROWS:
            mean, variance, left = self._parts(X)
        else:
            parts = [self._parts(X[first:stop]) for first, stop in chunks(len(X), self._width)]
            mean, variance, left = map(np.concatenate, zip(*parts, strict=True))
        residual_scale = self.model.signal_variance if self.augmented is None else self.augmented.prior
        if residual_scale is None:
            return LatentGaussian(mean, variance, np.zeros(len(X)))
        return LatentGaussian(
            mean, variance, residual_scale * left, np.maximum(1.0 - left, 0.0) if self._has_support else None
        )

    def _parts(self, X: Array) -> tuple[Array, Array, Array]:
        """Mean and variance of the functions of the model at some rows, and the residual share, each (n,)."""
        X = self.model.within_range(X)
        columns = evaluate(self.model.functions, X)
        found = columns @ self.products
        known = self.model.mean
        r, K = self.root.shape[1], 1 if known.ndim == 1 else known.shape[1]
        means, spread = found[:, :K], found[:, K : K + r]
        if self.whitening is not None:
            B = found[:, K + r :]
            left = self.whitening.left(self.refined(columns, B) if self.is_exact else B)
        elif self.augmented is not None:
            left = self.augmented.left(X, columns)
        else:
            left = np.ones(len(X))
        mean = means[:, 0] if known.ndim == 1 else means
        return mean.copy(), np.vecdot(spread, spread), left  # a view would keep the whole product in memory

    def refined(self, columns: Array, B: Array) -> Array:
        """B = E L^-T (n, m), E the first m of the `columns`, by a step of iterative refinement of an exact process.

        With next to no noise 1 - |b|^2 would be rounding: by L^-1 alone 3/4 of new points between 600 rows have 0 at a
        noise share of 1e-13, and the others errors of 90 such shares. Refined, B is as accurate as by substitution.
        """
        if self.whitening is None:
            return B
        m = len(self.whitening.lower)
        return B + (columns[:, :m] - B @ self.whitening.lower.T) @ self.products[:m, -m:]

    @property
    def noise_shares(self) -> Array:
        """diag(C^-1) / beta (m,) of an exact process, for the rows of its functions: 1 - h, h the leverage of a row.

        C^-1 = (L L')^-1 / s - G S G' / s^2, with S the covariance of the columns' weights and G = (L L')^-1 F.
        """
        m, s = len(self.model.mean) - self.root.shape[1], self.model.signal_variance or 0.0
        inverse = self.products[:m, -m:]
        left = np.vecdot(inverse, inverse) - np.vecdot(self.root[:m], self.root[:m]) / s
        return np.asarray(np.maximum((self.model.jitter or 0.0) * left, TINY))

    @property
    def _has_support(self) -> bool:
        """True where the model has centres: a process without inducing points has no support."""
        return self.augmented is not None or (self.whitening is not None and len(self.whitening.lower) > 0)

    @property
    def _width(self) -> int:
        return len(self.model.mean) + (0 if self.augmented is None else self.augmented.functions.size)


def with_tails(prediction: Prediction, model: Model) -> Prediction:
    """A prediction under Gaussian noise, of the target or a function of it, as Student's t where the model has degrees
    of freedom."""
    if model.degrees_of_freedom is None:
        return prediction
    match prediction:
        case RealPrediction():
            return prediction.integrated(model.variance_factor, model.degrees_of_freedom)
        case PositivePrediction(log=log):
            return PositivePrediction.of(log.integrated(model.variance_factor, model.degrees_of_freedom))
        case SharePrediction(logit=logit):
            return SharePrediction.of(logit.integrated(model.variance_factor, model.degrees_of_freedom))
        case _:
            return prediction


def predict(model: Model, X: Array, noise_sd: Array | None = None) -> Prediction:
    """The predictive distribution at X (N, d) in the model's encoded units: under the likelihood, from the latent.

    `noise_sd` as in `Ready.predict`. Raises DataError.
    """
    prediction, _ = Ready.of(model).predict(X, noise_sd)
    return prediction


def latent(model: Model, X: Array) -> LatentGaussian:
    """The function at X (N, d): see `Ready.latent`."""
    return Ready.of(model).latent(X)


def whitened(model: Model, X: Array) -> tuple[Array, Array]:
    """Columns (N, R) at X (N, d) whose weights are independent under the prior, and their precisions (R,)."""
    columns, whitening = model.columns(X), _whitening(model)
    if whitening is None or model.signal_variance is None:
        return columns, model.alpha
    m = len(whitening.lower)
    shared = np.full(m, 1.0 / model.signal_variance)
    return np.hstack([whitening.columns(columns[:, :m]), columns[:, m:]]), np.append(shared, model.alpha[m:])


def prior_variance(model: Model, X: Array) -> Array:
    """p'A^-1 p (N,) of the functions in the model at X (N, d): the prior variance of the latent."""
    parts = []
    for first, stop in chunks(len(X), len(model.mean)):
        columns, alpha = whitened(model, X[first:stop])
        parts.append(np.square(columns) @ (1.0 / (alpha if alpha.ndim == 1 else alpha.min(axis=1))))
    return np.concatenate(parts)


def _whitening(model: Model) -> Whitening | None:
    """The whitening of the kernel functions, which are first under a Gaussian process prior; None under another."""
    if model.signal_variance is None:
        return None
    vectors, *_ = model.functions
    if not isinstance(vectors, KernelFunctions):
        raise SparseBayesError("expected the kernel functions of a process first")
    return Whitening.of(vectors(vectors.centres, np.arange(vectors.size)), light_cholesky, jitter=model.jitter)


def _of_all_weights(model: Model, inverse: Array, root: Array) -> Array:
    """A root (R, F) of the covariance of all weights of an exact process, from that of its F columns without kernel.

    `inverse` (m, m) is L^-T: the weights of the kernel functions given those w of the columns are (L L')^-1 (t - F w).
    """
    vectors, *others = model.functions
    if not isinstance(vectors, KernelFunctions):
        raise SparseBayesError("expected the kernel functions of a process first")
    columns = evaluate(others, vectors.centres)
    return np.concatenate([-(inverse @ (inverse.T @ columns)) @ root, root])


def _augmented(model: Model) -> Augmented | None:
    if model.augmentation is None or model.noise_sd is None:
        return None
    kept, noise_sd = model.augmentation, model.noise_sd
    return Augmented.of(kept, model.functions, model.alpha, noise_sd=noise_sd, rows=model.rows)


def chunks(rows: int, functions: int) -> Iterator[tuple[int, int]]:
    """First row and stop of chunks of about equal size: at most MIN_ROWS rows, or BLOCK_BYTES of `functions` columns
    where that is more."""
    max_rows = max(MIN_ROWS, BLOCK_BYTES // (8 * max(functions, 1)))
    blocks = -(-rows // max_rows)
    return ((rows * block // blocks, rows * (block + 1) // blocks) for block in range(blocks))


MAX_ERROR = 1e150
"""The largest error whose square is finite: r2 counts greater ones as this."""


FIGURES = ("mae", "nll", "coverage_95", "error", "log_loss", "brier")
"""A row's figures: the first three of numbers, the others of classes."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The targets t (N,) beside their predictions: `each` has a row's figures (N,), so that rows can be joined.

    Numbers: mae, nll (nats), coverage_95. Classes: error, log_loss (nats), brier (half of the squared distances from
    certainty, which for two classes is that of one of them). `outputs` are the predictions: of numbers the mean, P(t' <
    t) and P(t' <= t) of a new target t' (3, N), which differ for counts, and the zeros of a hurdle; of classes their
    probabilities (K, N). `is_clipped` (N,) are the rows whose nll is a bound instead, None where it was not bounded:
    see `clip`.
    """

    t: Array
    each: dict[str, Array]
    outputs: Array
    is_clipped: Mask | None = None

    @property
    def is_of_counts(self) -> bool:
        """True where targets are counts, each of which has a probability: of a hurdle only 0 has one."""
        has_probability = self.outputs[-1:] > self.outputs[-2:-1]
        return "nll" in self.each and bool(has_probability.any()) and bool(has_probability[:, self.t > 0.0].any())

    @property
    def half_width(self) -> float | None:
        """That of the interval whose probability is comparable with that of a count; None of other targets."""
        return HALF_UNIT if self.is_of_counts else None

    @classmethod
    def of(cls, prediction: Prediction, t: Array) -> "Measured":
        """Of the rows that one model predicted, in the units of t."""
        nll = -prediction.log_density(t)
        if isinstance(prediction, ClassPrediction):
            probabilities, labels = prediction.probabilities, t.astype(np.intp)
            certain = np.eye(probabilities.shape[1])[labels]
            error = (probabilities.argmax(axis=1) != labels).astype(np.float64)
            brier = 0.5 * np.square(probabilities - certain).sum(axis=1)
            return cls(t, {"error": error, "log_loss": nll, "brier": brier}, probabilities.T)
        inside = (prediction.quantile(0.025) <= t) & (t <= prediction.quantile(0.975))
        lost = np.abs(t - prediction.mean)
        outputs = np.array([prediction.mean, *prediction.distribution(t)])
        return cls(t, {"mae": lost, "nll": nll, "coverage_95": inside.astype(np.float64)}, outputs)

    @classmethod
    def joined(cls, parts: Sequence["Measured"]) -> "Measured":
        """Rows of several models, at least one, all of numbers or all of classes."""
        names = parts[0].each
        joined = {name: np.concatenate([part.each[name] for part in parts]) for name in names}
        outputs = np.concatenate([part.outputs for part in parts], axis=1)
        return cls(np.concatenate([part.t for part in parts]), joined, outputs)

    def clip(self, best: Array | None = None) -> "Measured":
        """With each row's nll at most that of `min_log_density`, given all rows that a mean is taken of.

        `best` (N,) are the log densities of the best of several models. The log loss of classes has no such bound: the
        temperature, which held-out rows determine, keeps a probability from being wrong by many nats.
        """
        if "nll" not in self.each:
            return self
        nll, lowest = self.each["nll"], min_log_density(self.t, best, half_width=self.half_width)
        return replace(self, each={**self.each, "nll": np.minimum(nll, -lowest)}, is_clipped=nll > -lowest)

    def scores(self) -> dict[str, float]:
        """The means over all rows; of numbers also rmse and r2 (0 where t is constant)."""
        means = {name: float(rows.mean()) for name, rows in self.each.items()}
        if "mae" not in self.each:
            return means
        lost, spread = self.each["mae"], float(np.var(self.t))
        unit = max(1.0, float(lost.max()) / MAX_ERROR)
        squared = float(np.mean((lost / unit) ** 2))
        mae, r2 = means.pop("mae"), 1.0 - squared / spread if spread > 0.0 else 0.0
        return {"rmse": unit * float(np.sqrt(squared)), "mae": mae, "r2": r2, **means}


def scores(prediction: Prediction, t: Array) -> dict[str, float]:
    """Figures of predictions against the targets t (N,), in the units of t: see `Measured`."""
    return Measured.of(prediction, t).scores()


MAX_ROWS = 5_000
"""The most rows for a temperature; on more rows leverages are computed from the posterior covariance, by blocks."""

MAX_ROWS_MEASURED = 20_000
"""The most rows of the figures, drawn by content: the standard error of a mean of so many is .005 nats."""

LEAVE_ONE_OUT_FIGURES = frozenset({"rmse", "nll", "coverage_95", "error", "log_loss"})


def leave_one_out(model: Model, rows: Rows, rho: float) -> dict[str, float]:
    """Leave-one-out scores of the training rows, of at most MAX_ROWS_MEASURED.

    Empty where sites depend on the latent, and for heteroscedastic noise.

    With h = lam p'Sigma p, lam = beta/(1 + rho beta c), the row's residual is r/(1 - h) and its variance
    1/beta + p'Sigma p/(1 - h) + c [THEORY 18]. Functions and hyperparameters were chosen with the row
    present, so that the figures are optimistic: they are reported, and decide nothing.
    """
    if not model.likelihood.is_conjugate or model.noise_sd is None or model.log_noise is not None:
        return {}
    if len(rows.t) > MAX_ROWS_MEASURED:
        rows = rows.take(subset(rows.X, rows.t, MAX_ROWS_MEASURED, 0))
    without, noise_sd = _without(model, rows, rho)
    predicted = with_tails(model.likelihood.predictive(without, noise_sd), model)
    return {name: score for name, score in scores(predicted, rows.t).items() if name in LEAVE_ONE_OUT_FIGURES}


def with_temperature(model: Model, rows: Rows) -> Model:
    """The model with the temperature of its leave-one-out predictions, where these have a closed form."""
    if not isinstance(model.likelihood, OneAgainstRest):
        return model
    some = rows.take(subset(rows.X, rows.t, MAX_ROWS, 0))
    return replace(model, likelihood=model.likelihood.with_temperature(some.t, *_without(model, some, 0.0)))


def _without(model: Model, rows: Rows, rho: float) -> tuple[LatentGaussian, ForRows]:
    """The latent at each row, learned from all others, and its noise."""
    targets, _ = model.likelihood.working(rows.t)
    noise_sd = model.noise_sd if rows.noise_sd is None else rows.noise_sd
    if noise_sd is None:
        raise SparseBayesError("expected a likelihood with noise")
    if model.is_exact:
        return _without_exact(model, targets, noise_sd)
    found = latent(model, rows.X)
    noise = np.square(noise_sd) + rho * found.residual
    is_small = model.mean.ndim == 1 and len(rows.t) <= MAX_ROWS
    left = _left(model, rows.X, noise) if is_small else 1.0 - found.weights / noise
    # A row has at most the information on its latent that the prior leaves open.
    left = np.maximum(left, noise / (noise + prior_variance(model, rows.X)))
    return LatentGaussian(targets - ((targets - found.mean).T / left).T, found.weights / left, found.residual), noise_sd


def _without_exact(model: Model, targets: Array, noise_sd: ForRows) -> tuple[LatentGaussian, ForRows]:
    """The latent of an exact process at each of its rows given all others: t - m = (C^-1 t)_n / (C^-1)_nn
    [RASMUSSEN2006, eqs 5.10 to 5.12], of the weights s C^-1 t, without a difference of targets and means."""
    vectors, *_ = model.functions
    if not isinstance(vectors, KernelFunctions):
        raise SparseBayesError("expected the kernel functions of a process first")
    left = Ready.of(model).noise_shares
    order = vectors.rows.argsort()
    errors, left = ((model.jitter or 0.0) * model.mean[: len(left)] / left)[order], left[order]
    return LatentGaussian(targets - errors, np.square(noise_sd) * (1.0 - left) / left, np.zeros(len(left))), noise_sd


def _left(model: Model, X: Array, noise: Array) -> Array:
    """1 - h of rows (N,) whose noise has these variances (N,), to all digits.

    With Y = diag(noise)^-1/2 P A^-1/2, h_n = |q_n|^2 in the QR factorisation of [Y; I] by orthonormal columns. The
    posterior covariance has the same value, but with nearly no noise its rounding exceeds 1 - h.
    """
    columns, alpha = whitened(model, X)
    _, orthogonal = factors_of_sum(columns / np.sqrt(np.outer(noise, alpha)))
    return np.asarray(1.0 - np.vecdot(orthogonal, orthogonal))
