"""Inputs of which a default model can be wrong without a word: far-out rows, oscillations, few rows, rare classes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.accuracy.ours import inputs, learned
from benchmarks.accuracy.real_peers import exact_process
from benchmarks.accuracy.scoring import Distribution, PredictedNumbers
from benchmarks.files import Split
from benchmarks.generators import friedman, mixed_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, column, mean, repeated
from benchmarks.report import Table
from relevance_bayes.core.likelihoods import Poisson
from relevance_bayes.core.types import Array

SEED = 2029
NEW_ROWS = 2_000
FEW_ROWS = (3, 4, 6, 10, 50)
SCALES_OF_MEANS = 10.0
"""Predicted means of counts are out of all proportion where they are more than so many times the true ones."""

HEADER = ("rows", "what is measured", "relevance", "peer", "its figure")
NOTES = (
    """\
By defaults, on draws of a seed of their own. GP: scikit-learn's, ConstantKernel * RBF (a length for each input) +
WhiteKernel, one start, of oscillations five. HistGB: HistGradientBoostingRegressor with Poisson loss.""",
    """\
A constant: RMSE to the true function above .9 of its sd. Score: the log density by folds, in nats a row. Student's t:
the interval of linear regression, which is the true form. Log losses are those expected of new rows.""",
)


@dataclass(frozen=True)
class EdgeCase:
    """`figures` of one draw; `cells` of the figures of `draws` of them, or of `quick`: ours and those of a `peer`."""

    rows: str
    what: str
    peer: str
    figures: Callable[[int], Figures]
    cells: Callable[[list[Figures]], tuple[str, str]]
    draws: int
    quick: int = 2


def edge_cases(options: Options) -> list[Table]:
    """Return one row for each kind of input."""
    rows: list[tuple[str, ...]] = []
    for case in CASES:
        draws = case.quick if options.quick else case.draws
        ours, peer = case.cells(repeated(case.figures, draws, processes=options.processes))
        rows.append((case.rows, case.what.format(draws=draws), ours, case.peer, peer))
    return [Table("Inputs that lead models astray", HEADER, tuple(rows), NOTES)]


def _far_out(draw: int) -> Figures:
    """The error with a row that is far out in one input, over that without it."""
    rng = np.random.default_rng((SEED, 1, draw))
    X, X_test = rng.standard_normal((120, 3)), rng.standard_normal((NEW_ROWS, 3))
    X[0, 0] = (10.0, 14.0, 18.0)[draw % 3]

    def truth(X: Array) -> Array:
        return np.asarray(0.6 * np.clip(X[:, 0], -3.0, 3.0) + np.sin(3.0 * X[:, 1]))

    t = truth(X) + 0.05 * rng.standard_normal(len(X))
    whole = Split(X, t, X_test, truth(X_test))
    without = Split(X[1:], t[1:], X_test, whole.t_test)
    return {"ours": _rmse(_ours(whole), whole) / _rmse(_ours(without), without)} | {
        "peer": _rmse(_process(whole), whole) / _rmse(_process(without), without)
    }


def _oscillation(draw: int) -> Figures:
    """5 to 30 periods of a sine, a saw or a square, 150 to 300 rows, with or without noise and another input."""
    rng = np.random.default_rng((SEED, 2, draw))
    periods, rows = (5, 10, 15, 20, 25, 30)[draw % 6], 150 + 150 * (draw % 2)
    noise, more = 0.1 * (draw % 3 > 0), draw % 4 // 3
    form = (_sine, _sine, _sine, _saw, _square)[draw % 5]
    X, X_test = rng.random((rows, 1 + more)), rng.random((NEW_ROWS, 1 + more))
    t, truth = (form(periods * some[:, 0]) for some in (X, X_test))
    split = Split(X, t + noise * rng.standard_normal(rows), X_test, truth + noise * rng.standard_normal(NEW_ROWS))
    found = learned(split, "regression")
    predicted = found.predicted_numbers(inputs(X_test), split.t_test)
    excess = found.score[0] - float(_distribution(predicted).log_density.mean())

    def is_constant(predicted: PredictedNumbers) -> float:
        return float(np.sqrt(np.mean((predicted.mean - truth) ** 2)) > 0.9 * truth.std())

    return {
        "ours": is_constant(predicted),
        "too_good": float(excess > 0.5),
        "peer": is_constant(_process(split, starts=5)),
    }


def _sine(u: Array) -> Array:
    return np.asarray(np.sin(2.0 * np.pi * u))


def _saw(u: Array) -> Array:
    return np.asarray(2.0 * (u % 1.0) - 1.0)


def _square(u: Array) -> Array:
    return np.sign(_saw(u))


def _counts(draw: int) -> Figures:
    """Means of counts with a log mean of 3 + 1.2 log x, x log-normal, of new rows of the same distribution."""
    rng = np.random.default_rng((SEED, 3, draw))
    x, x_test = np.exp(1.5 * rng.standard_normal((300, 1))), np.exp(1.5 * rng.standard_normal((NEW_ROWS, 1)))
    t, truth = rng.poisson(np.exp(3.0) * x[:, 0] ** 1.2).astype(np.float64), np.exp(3.0) * x_test[:, 0] ** 1.2
    found = learned(Split(x, t, x_test, truth), "regression", likelihood=Poisson())
    ours = found.predicted_numbers(inputs(x_test), np.round(truth)).mean
    peer = HistGradientBoostingRegressor(loss="poisson", random_state=0).fit(x, t).predict(x_test)
    return {name: float(np.sum(means > SCALES_OF_MEANS * truth)) for name, means in (("ours", ours), ("peer", peer))}


def _few(rows: int, draw: int) -> Figures:
    """Coverage and width of 95 % intervals of a straight line with noise of sd 1, beside Student's t."""
    rng = np.random.default_rng((SEED, 4, rows, draw))
    x, x_test = rng.uniform(-2.0, 2.0, (rows, 1)), rng.uniform(-2.0, 2.0, (200, 1))
    split = Split(x, x[:, 0] + rng.standard_normal(rows), x_test, x_test[:, 0] + rng.standard_normal(200))
    line = np.polynomial.Polynomial.fit(x[:, 0], split.t, 1)
    sd = np.sqrt(np.sum((split.t - line(x[:, 0])) ** 2) / (rows - 2))
    leverage = 1.0 / rows + (x_test[:, 0] - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
    half = stats.t.ppf(0.975, rows - 2) * sd * np.sqrt(1.0 + leverage)
    ours = _distribution(_ours(split))
    return {
        "ours": _coverage(ours, split),
        "peer": _coverage(_distribution(_process(split)), split),
        "width": float(np.mean(ours.upper - ours.lower) / np.mean(2.0 * half)),
    }


def _order(draw: int) -> Figures:
    """The largest move of a mean, in sd, where rows and columns come in another order."""
    rng = np.random.default_rng((SEED, 5, draw))
    X, X_test = rng.random((200, 10)), rng.random((NEW_ROWS, 10))
    split = Split(X, friedman(1, X) + rng.standard_normal(200), X_test, friedman(1, X_test))
    rows, columns = rng.permutation(200), rng.permutation(10)
    moved = Split(X[rows][:, columns], split.t[rows], X_test[:, columns], split.t_test)

    def moves(fit: Callable[[Split], PredictedNumbers]) -> float:
        first, second = fit(split), fit(moved)
        return float(np.max(np.abs(first.mean - second.mean) / _distribution(first).sd))

    return {"ours": moves(_ours), "peer": moves(_process)}


def _rare(rows: int, positives: int, weight: float, draw: int) -> Figures:
    """Expected log loss beside the base rate and logistic regression, for so many positives of so many rows."""
    rng = np.random.default_rng((SEED, 6, rows, positives, draw))
    X_test = rng.standard_normal((10 * NEW_ROWS, 5))
    latent = weight * (2.0 * X_test[:, 0] - X_test[:, 1])
    shift = _shift(latent, positives / rows)
    X, t = np.empty((0, 5)), np.empty(0)
    while t.sum() != positives:
        X = rng.standard_normal((rows, 5))
        t = (rng.random(rows) < _logistic(weight * (2.0 * X[:, 0] - X[:, 1]) + shift)).astype(np.float64)
    truth = _logistic(latent + shift)
    losses = _log_losses(X, t, X_test, truth)
    base = _expected_loss(np.full(len(truth), positives / rows), truth)
    return {
        "base": float(losses["ours"] > base + 0.005),
        "logistic": float(losses["ours"] > losses["peer"] + 0.01),
        "peer": float(losses["peer"] > base + 0.005),
    }


def _linear_classes(draw: int) -> Figures:
    """Expected log loss of 400 rows whose classes depend on a sum of forty inputs."""
    rng = np.random.default_rng((SEED, 7, draw))
    weights = rng.standard_normal(40)
    X, X_test = rng.standard_normal((400, 40)), rng.standard_normal((NEW_ROWS, 40))
    t = (rng.random(400) < _logistic(X @ weights)).astype(np.float64)
    return _log_losses(X, t, X_test, _logistic(X_test @ weights))


def _score(draw: int) -> Figures:
    """1 where the score is within two standard errors of the log density of new rows, of few rows with many inputs."""
    rows, made = (60, 100, 150)[draw % 3], (12, 20, 30)[draw // 3 % 3]
    split = mixed_split(draw, rows=rows, inputs=made, factors=5, noise_sd=0.3)
    found = learned(split, "regression")
    density = _distribution(found.predicted_numbers(inputs(split.X_test), split.t_test)).log_density
    score, standard_error = found.score
    error = np.hypot(standard_error, density.std() / np.sqrt(len(density)))
    return {"ours": float(abs(score - density.mean()) <= 2.0 * error)}


def _heavy_tails(draw: int) -> Figures:
    """Coverage of 95 % intervals and NLL where noise has Student's t distribution of two degrees of freedom."""
    rng = np.random.default_rng((SEED, 8, draw))
    X, X_test = rng.random((300, 6)), rng.random((NEW_ROWS, 6))
    t, t_test = (friedman(1, some) + rng.standard_t(2.0, len(some)) for some in (X, X_test))
    split = Split(X, t, X_test, t_test)
    ours, peer = _distribution(_ours(split)), _distribution(_process(split))
    return {
        "ours": _coverage(ours, split),
        "peer": _coverage(peer, split),
        "nll": -float(ours.log_density.mean()),
        "peer_nll": -float(peer.log_density.mean()),
    }


def _ours(split: Split) -> PredictedNumbers:
    return learned(split, "regression").predicted_numbers(inputs(split.X_test), split.t_test)


def _process(split: Split, starts: int = 1) -> PredictedNumbers:
    return exact_process(2_000, starts - 1, split).predict(split.X_test, split.t_test)


def _distribution(predicted: PredictedNumbers) -> Distribution:
    if predicted.distribution is None:
        raise TypeError("expected a distribution")
    return predicted.distribution


def _rmse(predicted: PredictedNumbers, split: Split) -> float:
    return float(np.sqrt(np.mean((predicted.mean - split.t_test) ** 2)))


def _coverage(found: Distribution, split: Split) -> float:
    return float(np.mean((found.lower <= split.t_test) & (split.t_test <= found.upper)))


def _log_losses(X: Array, t: Array, X_test: Array, truth: Array) -> Figures:
    split = Split(X, t, X_test, truth)
    ours = learned(split, "classification").predicted_classes(inputs(X_test)).probabilities[:, 1]
    straight = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, t).predict_proba(X_test)[:, 1]
    return {"ours": _expected_loss(ours, truth), "peer": _expected_loss(straight, truth)}


def _expected_loss(found: Array, truth: Array) -> float:
    found = np.clip(found, 1e-15, 1.0 - 1e-15)
    return float(-np.mean(truth * np.log(found) + (1.0 - truth) * np.log(1.0 - found)))


def _logistic(latent: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-latent)))


def _shift(latent: Array, share: float) -> float:
    """Return what is added to log odds (N,) so that this share is positive, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _logistic(latent + middle).mean() > share else (middle, high)
    return low


def _largest(measured: list[Figures]) -> tuple[str, str]:
    return f"{max(column(measured, 'ours')):.3g}", f"{max(column(measured, 'peer')):.3g}"


def _means(measured: list[Figures]) -> tuple[str, str]:
    return f"{mean(measured, 'ours'):.3f}", f"{mean(measured, 'peer'):.3f}"


def _numbers(measured: list[Figures]) -> tuple[str, str]:
    return f"{sum(column(measured, 'ours')):.0f}", f"{sum(column(measured, 'peer')):.0f}"


def _oscillations(measured: list[Figures]) -> tuple[str, str]:
    ours, peer = _numbers(measured)
    return f"{ours}, {sum(column(measured, 'too_good')):.0f}", peer


def _with_width(measured: list[Figures]) -> tuple[str, str]:
    ours, peer = _means(measured)
    return f"{ours}, x {mean(measured, 'width'):.2f}", peer


def _behind(measured: list[Figures]) -> tuple[str, str]:
    ours = " and ".join(f"{sum(column(measured, name)):.0f}" for name in ("base", "logistic"))
    return ours, f"{sum(column(measured, 'peer')):.0f} behind the base rate"


def _shares(measured: list[Figures]) -> tuple[str, str]:
    return f"{sum(column(measured, 'ours')):.0f}", ""


def _with_nll(measured: list[Figures]) -> tuple[str, str]:
    ours, peer = _means(measured)
    return f"{ours}, {mean(measured, 'nll'):.3f}", f"{peer}, {mean(measured, 'peer_nll'):.3f}"


BEHIND = "of {draws}: behind the base rate by .005 nats, and behind logistic regression by .01"

CASES = (
    EdgeCase("119, and one far out", "RMSE with it / without it, largest of {draws}", "GP", _far_out, _largest, 6),
    EdgeCase(
        "150 to 300 of an oscillation",
        "of {draws}: constants, scores too good by .5",
        "GP: constants",
        _oscillation,
        _oscillations,
        24,
    ),
    EdgeCase(
        "300 counts, a log-normal input",
        f"of {{draws}} x {NEW_ROWS:,} means: above {SCALES_OF_MEANS:g} x the true one",
        "HistGB",
        _counts,
        _numbers,
        5,
    ),
    *(
        EdgeCase(
            f"{rows}, one input",
            "coverage of 95 %, width / Student's t; {draws} draws",
            "GP",
            partial(_few, rows),
            _with_width,
            100,
            8,
        )
        for rows in FEW_ROWS
    ),
    EdgeCase("200 in another order", "largest move of a mean in sd, {draws} draws", "GP", _order, _largest, 3),
    EdgeCase("4 positive of 600", BEHIND, "logistic", partial(_rare, 600, 4, 1.0), _behind, 20),
    EdgeCase("10 positive of 600", BEHIND, "logistic", partial(_rare, 600, 10, 1.0), _behind, 20),
    EdgeCase("8 positive of 20, noise", BEHIND, "logistic", partial(_rare, 20, 8, 0.0), _behind, 20),
    EdgeCase("400 of 40 inputs, linear log odds", "log loss, mean of {draws}", "logistic", _linear_classes, _means, 3),
    EdgeCase("60 to 150 of 12 to 30 inputs", "of {draws}: scores within 2 SE of new rows", "", _score, _shares, 27),
    EdgeCase("300, noise of t with 2 df", "coverage of 95 %, NLL; {draws} draws", "GP", _heavy_tails, _with_nll, 5),
)
