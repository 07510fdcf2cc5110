"""The models that are made small: support vectors, processes and densities of 1,000 rows, and fresh rows for each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.generators import ripley_split, sinc
from relevance_bayes.client.expansions import expansion_of
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation.expansion import KernelExpansion

ROWS, FRESH = 1_000, 10_000
SEED = 2001

SUPPORT_WIDTH = 3.0
NOISE_SD = 0.1

BUMPS = np.array([[-2.0, 1.5], [0.0, -0.5], [3.0, 1.0]])
BUMP_SDS = np.array([0.5, 1.0, 0.3])


@dataclass(frozen=True, eq=False)
class Case:
    """`full` is the function of an estimator; `predict` its own values (N,) at rows, of which `fresh` are some.

    `wrong` is how far an answer at the fresh rows is from the truth, and in what unit; None for densities.
    """

    name: str
    full: KernelExpansion
    predict: Callable[[Array], Array]
    fresh: Array
    wrong: Callable[[Array], str] | None = None


def core(estimator: object) -> KernelExpansion:
    """The same function for the core."""
    found = expansion_of(estimator)
    return KernelExpansion.of_width(found.width, found.centres, found.weights, found.constant)


def support_regression() -> Case:
    """sinc(|x|) of two inputs with noise of sd 0.1."""
    from sklearn.svm import SVR

    rng = np.random.default_rng(SEED)
    X, fresh = rng.uniform(-10.0, 10.0, (ROWS, 2)), rng.uniform(-10.0, 10.0, (FRESH, 2))
    t, truth = (sinc(np.hypot(some[:, 0], some[:, 1])) for some in (X, fresh))
    machine = SVR(C=1.0, gamma=SUPPORT_WIDTH**-2, epsilon=NOISE_SD).fit(X, t + rng.normal(0.0, NOISE_SD, ROWS))
    return Case("SVR, sinc, d = 2", core(machine), machine.predict, fresh, _rmse_to(truth))


def support_classes() -> Case:
    """Ripley's mixture."""
    from sklearn.svm import SVC

    split = ripley_split(0, rows=ROWS, measured=FRESH)
    machine = SVC(C=1.0, gamma=4.0).fit(split.X, split.t)

    def wrong(values: Array) -> str:
        return f"{100.0 * float(np.mean((values > 0.0) != split.t_test)):.2f} %"

    return Case("SVC, Ripley's mixture, d = 2", core(machine), machine.decision_function, split.X_test, wrong)


def process(inputs: int) -> Case:
    """A wave along the first input and a slope of each other, with noise of sd 0.1; all scales learned."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    rng = np.random.default_rng((SEED, inputs))
    X, fresh = rng.uniform(size=(ROWS, inputs)), rng.uniform(size=(FRESH, inputs))
    t, truth = (np.sin(2.0 * np.pi * some[:, 0]) + np.cos(3.0 * some[:, 1:]).sum(axis=1) for some in (X, fresh))
    kernel = ConstantKernel() * RBF(np.full(inputs, 0.3)) + WhiteKernel(0.01)
    machine = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, t + rng.normal(0.0, NOISE_SD, ROWS))
    return Case(f"GP, d = {inputs}", core(machine), machine.predict, fresh, _rmse_to(np.asarray(truth)))


def density(inputs: int) -> Case:
    """A kernel density estimate of three bumps, on a line or in the plane."""
    from sklearn.neighbors import KernelDensity

    rng = np.random.default_rng((SEED, inputs, 2))
    machine = KernelDensity(bandwidth=0.3).fit(_bumps(ROWS, inputs, rng))
    fresh = _bumps(FRESH, inputs, rng)
    return Case(f"KDE, d = {inputs}", core(machine), lambda X: np.exp(machine.score_samples(X)), fresh)


def _bumps(rows: int, inputs: int, rng: np.random.Generator) -> Array:
    of = rng.integers(len(BUMPS), size=rows)
    return np.asarray(BUMPS[of, :inputs] + BUMP_SDS[of, None] * rng.standard_normal((rows, inputs)))


def _rmse_to(truth: Array) -> Callable[[Array], str]:
    return lambda values: f"{float(np.sqrt(np.mean((values - truth) ** 2))):.4f}"
