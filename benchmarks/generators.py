"""The papers' generators, with the papers' noise; every draw is a pure function of a named seed and its number."""

from typing import Literal, get_args

import numpy as np

from benchmarks.files import Split
from relevance_bayes.core.types import Array

SINC_SEED = 2001
FRIEDMAN_SEED = 1991
BREIMAN_SEED = 1984
RIPLEY_SEED = 1996
NOISE_SEED = 1999
TABLE_SEED = 2028
ACCURACY_SEED = 2027
"""Draws on which nothing was tuned: those of the tables beside the peers."""

SINC_NOISE = 0.1
"""Standard deviation of the Gaussian noise, half the range of the uniform one [TIPPING2001, appendix E]."""

RIPLEY_MEANS = (((-0.7, 0.3), (0.3, 0.3)), ((-0.3, 0.7), (0.4, 0.7)))
"""Two centres for each of the two classes, each class an equal mixture of both."""

RIPLEY_VARIANCE = 0.03


def sinc(x: Array) -> Array:
    """sin(x)/x, 1 at 0."""
    return np.sinc(x / np.pi)


def sinc_split(
    noise: Literal["none", "gaussian", "uniform"], draw: int, *, rows: int = 100, scale: float = SINC_NOISE
) -> Split:
    """`rows` equally spaced points of [-10, 10] with noise, and the true function at 1,000 such points."""
    rng = np.random.default_rng((SINC_SEED, draw))
    x, x_test = np.linspace(-10.0, 10.0, rows), np.linspace(-10.0, 10.0, 1_000)
    t = sinc(x)
    if noise == "gaussian":
        t = t + rng.normal(0.0, scale, rows)
    elif noise == "uniform":
        t = t + rng.uniform(-scale, scale, rows)
    return Split(x[:, None], t, x_test[:, None], sinc(x_test))


def curve_and_line_split(draw: int) -> Split:
    """sinc(x_1) + 0.1 x_2 with noise of sd 0.1 at 100 places of [-10, 10]^2, without at 1,000 [TIPPING2001, 4.3]."""
    rng = np.random.default_rng((SINC_SEED, 2, draw))
    X, X_test = rng.uniform(-10.0, 10.0, (100, 2)), rng.uniform(-10.0, 10.0, (1_000, 2))
    t, truth = (sinc(some[:, 0]) + 0.1 * some[:, 1] for some in (X, X_test))
    return Split(X, t + rng.normal(0.0, SINC_NOISE, len(X)), X_test, truth)


def friedman(number: int, X: Array) -> Array:
    """Friedman's functions 1, 2 and 3 without noise [TIPPING2001, appendix E]."""
    if number == 1:
        curved = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
        return np.asarray(curved + 10.0 * X[:, 3] + 5.0 * X[:, 4])
    reactance = X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3])
    return np.hypot(X[:, 0], reactance) if number == 2 else np.arctan(reactance / X[:, 0])


def friedman_split(number: int, draw: int, *, rows: int = 240) -> Split:
    """`rows` with noise and 1,000 of the true function.

    The noise has sd 1 (function 1) or a third of the signal's variance (2 and 3), as the papers' tables were made.
    """
    rng = np.random.default_rng((FRIEDMAN_SEED, number, draw))
    X, X_test = _friedman_inputs(number, rows, rng), _friedman_inputs(number, 1_000, rng)
    signal = friedman(number, X)
    sd = 1.0 if number == 1 else float(np.sqrt(signal.var() / 3.0))
    return Split(X, signal + rng.normal(0.0, sd, len(signal)), X_test, friedman(number, X_test))


def mixed_split(draw: int, *, rows: int, inputs: int, factors: int, noise_sd: float) -> Split:
    """`rows` and 2,000 more, whose `inputs` mix `factors`, four of which the target has, with noise of sd .3."""
    rng = np.random.default_rng((TABLE_SEED, inputs, draw))
    Z = rng.standard_normal((rows + 2_000, factors))
    X = Z @ rng.standard_normal((factors, inputs)) / np.sqrt(factors) + 0.3 * rng.standard_normal((len(Z), inputs))
    return _apart(X, _of_factors(Z) + noise_sd * rng.standard_normal(len(Z)), rows)


def spectra_split(draw: int, *, rows: int) -> Split:
    """`rows` and 2,000 more of 100 inputs, smooth curves whose heights at five places are the factors of the target."""
    rng = np.random.default_rng((TABLE_SEED, 100, draw))
    Z, places = rng.standard_normal((rows + 2_000, 5)), np.linspace(0.0, 1.0, 100)
    bands = np.exp(-0.5 * ((places - np.linspace(0.1, 0.9, 5)[:, None]) / 0.08) ** 2)
    X = Z @ bands + 0.002 * rng.standard_normal((len(Z), 100))
    return _apart(X, _of_factors(Z) + 0.1 * rng.standard_normal(len(Z)), rows)


def counts_split(draw: int, *, rows: int) -> Split:
    """`rows` and 2,000 more of nine numbers and nine flags, and counts whose log mean is linear in a number and two
    flags."""
    rng = np.random.default_rng((TABLE_SEED, 18, draw))
    Z = rng.standard_normal((rows + 2_000, 18))
    X = np.column_stack([Z[:, :9], Z[:, 9:] > 0.8])
    mean = np.exp(1.0 + 0.3 * X[:, 0] + 0.4 * X[:, 10] - 0.3 * X[:, 11])
    return _apart(X, rng.poisson(mean).astype(np.float64), rows)


def _of_factors(Z: Array) -> Array:
    """A function of the first four factors Z (N, K)."""
    return np.asarray(Z[:, 0] + np.sin(2.0 * Z[:, 1]) + 0.5 * Z[:, 2] * Z[:, 3])


def _apart(X: Array, t: Array, rows: int) -> Split:
    """The first `rows` to learn from, the others to measure on."""
    return Split(X[:rows], t[:rows], X[rows:], t[rows:])


def noisy_friedman(number: int, draw: int) -> tuple[Split, Array]:
    """240 training rows, 1,000 test rows, both with noise, and the true function at the latter.

    The noise has sd 1 (function 1) or a third of the signal's sd (2 and 3) [TIPPING2001, appendix E, by its words].
    """
    rng = np.random.default_rng((ACCURACY_SEED, number, draw))
    X, X_test = _friedman_inputs(number, 240, rng), _friedman_inputs(number, 1_000, rng)
    signal, truth = friedman(number, X), friedman(number, X_test)
    sd = 1.0 if number == 1 else float(signal.std() / 3.0)
    t, t_test = (values + rng.normal(0.0, sd, len(values)) for values in (signal, truth))
    return Split(X, t, X_test, t_test), truth


def noisy_friedman_twice(draw: int) -> tuple[Split, Array]:
    """Friedman's function 1 of the first five inputs plus that of the next five, of thirty: twenty have no effect.

    240 training rows, 1,000 test rows, both with noise of sd 1, and the true function at the latter.
    """
    rng = np.random.default_rng((ACCURACY_SEED, 1, 1, draw))
    X, X_test = rng.uniform(size=(240, 30)), rng.uniform(size=(1_000, 30))
    signal, truth = (friedman(1, some) + friedman(1, some[:, 5:]) for some in (X, X_test))
    t, t_test = (values + rng.normal(size=len(values)) for values in (signal, truth))
    return Split(X, t, X_test, t_test), truth


def noisy_sinc(noise: Literal["none", "gaussian", "uniform"], draw: int) -> tuple[Split, Array]:
    """100 equally spaced rows, 1,000 measured on, both with noise 0.1, and the true function at the latter."""
    rng = np.random.default_rng((ACCURACY_SEED, draw))
    x, x_test = np.linspace(-10.0, 10.0, 100), np.linspace(-10.0, 10.0, 1_000)
    signal, truth = sinc(x), sinc(x_test)
    t, t_test = (values + _sinc_noise(noise, len(values), rng) for values in (signal, truth))
    return Split(x[:, None], t, x_test[:, None], t_test), truth


def _sinc_noise(noise: Literal["none", "gaussian", "uniform"], rows: int, rng: np.random.Generator) -> Array:
    match noise:
        case "none":
            return np.zeros(rows)
        case "gaussian":
            return rng.normal(0.0, SINC_NOISE, rows)
        case "uniform":
            return rng.uniform(-SINC_NOISE, SINC_NOISE, rows)


def _friedman_inputs(number: int, rows: int, rng: np.random.Generator) -> Array:
    if number == 1:
        return rng.uniform(size=(rows, 10))
    low, high = np.array([0.0, 40.0 * np.pi, 0.0, 1.0]), np.array([100.0, 560.0 * np.pi, 1.0, 11.0])
    return rng.uniform(low, high, size=(rows, 4))


WAVES = np.maximum(6.0 - np.abs(np.arange(1.0, 22.0) - np.array([7.0, 11.0, 15.0])[:, None]), 0.0)
"""Three triangles h (3, 21), each 6 high, at 7, 11 and 15 [BREIMAN1984, section 2.6.2]."""

WAVEFORMS = np.array([[0, 1], [0, 2], [1, 2]])
"""Which two of them each of three classes mixes."""


def waveform_split(draw: int, *, rows: int = 400, measured: int = 4_600) -> Split:
    """x = u h_i + (1 - u) h_j with noise of sd 1, u uniform: the class of h_1 and h_2 against the two others.

    No rule errs on less than 8.2 % of the rows; the class of h_1 and h_3 against the others would allow 10.0 %.
    """
    rng = np.random.default_rng((BREIMAN_SEED, draw))
    return Split(*_waveforms(rows, rng), *_waveforms(measured, rng))


def _waveforms(rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    label, u = rng.integers(3, size=rows), rng.uniform(size=(rows, 1))
    first, second = (WAVES[wave] for wave in WAVEFORMS[label].T)
    return u * first + (1.0 - u) * second + rng.normal(size=(rows, 21)), (label == 0).astype(np.float64)


def ripley_split(draw: int, *, rows: int = 250, measured: int = 10_000) -> Split:
    """Ripley's mixture: classes equally frequent, each two Gaussians of variance 0.03 in either direction."""
    rng = np.random.default_rng((RIPLEY_SEED, draw))
    X, t = _ripley(rows, rng)
    X_test, t_test = _ripley(measured, rng)
    return Split(X, t, X_test, t_test)


def _ripley(rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
    label, component = np.arange(rows) % 2, rng.integers(2, size=rows)
    X = np.asarray(RIPLEY_MEANS)[label, component] + rng.normal(0.0, RIPLEY_VARIANCE**0.5, (rows, 2))
    return X, label.astype(np.float64)


def ripley_best(X: Array) -> Array:
    """The class that is more probable at X (N, 2) under Ripley's mixture: no rule errs less."""
    probabilities = ripley_probabilities(X, np.array([0.5, 0.5]))
    return np.asarray(probabilities[:, 1] > probabilities[:, 0], np.float64)


def ripley_probabilities(X: Array, priors: Array) -> Array:
    """Of the classes at X (N, 2) under Ripley's mixture, where they are as frequent as `priors` (2,): (N, 2)."""
    squares = ((X[:, None, None, :] - np.asarray(RIPLEY_MEANS)) ** 2).sum(axis=-1)
    joint = priors * np.exp(-squares / (2.0 * RIPLEY_VARIANCE)).sum(axis=-1)
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))


def ripley_places(draw: int, priors: Array, *, rows: int = 10_000) -> Array:
    """Rows (N, 2) of Ripley's mixture where its classes are as frequent as `priors` (2,)."""
    rng = np.random.default_rng((ACCURACY_SEED, RIPLEY_SEED, draw))
    label, component = rng.choice(2, size=rows, p=priors), rng.integers(2, size=rows)
    return np.asarray(RIPLEY_MEANS)[label, component] + rng.normal(0.0, RIPLEY_VARIANCE**0.5, (rows, 2))


def uniform_classes(draw: int, *, rows: int = 1_000) -> tuple[Array, Array]:
    """x (N, 1) and t: class 1 is uniform on [0, 1], class 0 on [0.5, 1.5], equally frequent [TIPPING2001, D.2].

    No rule errs on less than a quarter; where they overlap the log odds are 0, elsewhere infinite.
    """
    rng = np.random.default_rng((ACCURACY_SEED, draw))
    t = (np.arange(rows) % 2).astype(np.float64)
    return (rng.uniform(size=rows) + 0.5 * (1.0 - t))[:, None], t


def subset_of(split: Split, rows: int, draw: int, *, seed: int = RIPLEY_SEED) -> Split:
    """`rows` of the rows to learn from, drawn without replacement."""
    chosen = np.random.default_rng((seed, rows, draw)).choice(len(split.t), rows, replace=False)
    return Split(split.X[chosen], split.t[chosen], split.X_test, split.t_test)


def pure_noise(draw: int, *, rows: int = 100, seed: int = NOISE_SEED) -> tuple[Array, Array]:
    """Equally spaced inputs in [-10, 10] and targets N(0, 1) that have nothing to do with them."""
    rng = np.random.default_rng((seed, draw))
    return np.linspace(-10.0, 10.0, rows)[:, None], rng.normal(size=rows)


JUMPS = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
"""Where blocks jumps, and where bumps has its bumps [DONOHO1994, table 1]: Donoho & Johnstone, Ideal spatial adaptation
by wavelet shrinkage, Biometrika 81."""

JUMP_HEIGHTS = np.array([4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
BUMP_HEIGHTS = np.array([4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
BUMP_WIDTHS = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])

Signal = Literal["blocks", "bumps", "heavisine", "doppler"]

SIGNALS: tuple[Signal, ...] = get_args(Signal)

SIGNAL_SD = 7.0
"""The sd of the four signals, beside noise of sd 1 [DONOHO1994]."""


def signal(name: Signal, x: Array) -> Array:
    """One of the four signals on [0, 1] as it is defined [DONOHO1994, table 1]."""
    match name:
        case "blocks":
            return np.asarray((x[:, None] >= JUMPS) @ JUMP_HEIGHTS)
        case "bumps":
            return np.asarray((1.0 + np.abs((x[:, None] - JUMPS) / BUMP_WIDTHS)) ** -4.0 @ BUMP_HEIGHTS)
        case "heavisine":
            return np.asarray(4.0 * np.sin(4.0 * np.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x))
        case "doppler":
            return np.asarray(np.sqrt(x * (1.0 - x)) * np.sin(2.1 * np.pi / (x + 0.05)))


def moments(rows: int) -> Array:
    """(n - 1/2)/N, n = 1 ... N: none of them is where a signal jumps."""
    return (np.arange(rows) + 0.5) / rows


def scaled_signal(name: Signal, rows: int) -> Array:
    """A signal at all moments, scaled to a standard deviation of 7."""
    values = signal(name, moments(rows))
    return np.asarray(values * (SIGNAL_SD / values.std()))


def signal_split(name: Signal, draw: int, *, rows: int) -> Split:
    """A signal with noise of sd 1 at `rows` moments of [0, 1], and without it at the same."""
    truth, rng = scaled_signal(name, rows), np.random.default_rng((ACCURACY_SEED, SIGNALS.index(name), rows, draw))
    X = moments(rows)[:, None]
    return Split(X, truth + rng.normal(size=rows), X, truth)


def staircase_split(draw: int, *, rows: int = 1_024, noise_sd: float = 0.1) -> Split:
    """Blocks as it is defined, eleven jumps from 2.1 to 5, with noise; and without it."""
    truth, rng = signal("blocks", moments(rows)), np.random.default_rng((ACCURACY_SEED, rows, draw))
    X = moments(rows)[:, None]
    return Split(X, truth + rng.normal(0.0, noise_sd, rows), X, truth)


COLUMN_NOISE = 0.5


def columns_split(inputs: int, draw: int, *, rows: int = 100, relevant: int = 5) -> Split:
    """Targets that are a sum of the first few of many inputs, all N(0, 1), each times 1 or -1; noise of sd 0.5."""
    rng = np.random.default_rng((ACCURACY_SEED, inputs, draw))
    X, X_test = rng.normal(size=(rows, inputs)), rng.normal(size=(1_000, inputs))
    weights = rng.choice([-1.0, 1.0], relevant)
    t = X[:, :relevant] @ weights + rng.normal(0.0, COLUMN_NOISE, rows)
    return Split(X, t, X_test, X_test[:, :relevant] @ weights)
