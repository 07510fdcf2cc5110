"""Tables drawn by generators whose truth is known; every draw is a pure function of the seed and its number."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.tables.catalogue import Task
from benchmarks.tables.splits import Source, TableSplit
from benchmarks.tables.table import Column, DataTable
from relevance_bayes.core.types import Array

SEED = 2026
ROWS = 250
TEST_ROWS = 500


@dataclass(frozen=True, eq=False)
class Drawn:
    """Inputs X (N, d), targets t (N,) and the truth: means (N,), or the probabilities (N, K) of classes.

    The first `rows` rows are learned from, all others measured on.
    """

    X: Array
    t: Array
    truth: Array
    rows: int = ROWS


Rng = np.random.Generator


def trend(rng: Rng) -> Drawn:
    """2 x + sin 3x with noise .3: the lowest of x learned, a quarter of its range above them measured on."""
    x, x_test = rng.uniform(0.0, 4.0, 150), rng.uniform(4.0, 5.0, TEST_ROWS)
    x = np.concatenate([x, x_test])
    others = rng.normal(size=(len(x), 2))
    mean = 2.0 * x + np.sin(3.0 * x)
    return Drawn(np.column_stack([x, others]), mean + rng.normal(0.0, 0.3, len(x)), mean, rows=150)


def irrelevant(rng: Rng) -> Drawn:
    """32 inputs of which 4 matter: one bent, two together, one straight."""
    X = rng.uniform(-1.0, 1.0, (ROWS + TEST_ROWS, 32))
    mean = np.sin(3.0 * X[:, 0]) + 2.0 * X[:, 1] * X[:, 2] + X[:, 3]
    return Drawn(X, mean + rng.normal(0.0, 0.2, len(X)), mean)


def factors(rng: Rng) -> Drawn:
    """130 rows of 60 inputs that 12 factors make, two classes apart by a weakly bent boundary."""
    rows = 130
    scores = rng.normal(size=(rows + TEST_ROWS, 12))
    loadings = rng.normal(size=(12, 60))
    X = scores @ loadings + rng.normal(0.0, 0.5, (len(scores), 60))
    latent = 2.0 * scores[:, 0] - 1.5 * scores[:, 1] + scores[:, 2] + 0.4 * (scores[:, 3] ** 2 - 1.0)
    return _two_classes(rng, X, latent, rows=rows)


def steps(rng: Rng) -> Drawn:
    """A staircase in one of three inputs, and a jump where another is above 0."""
    X = rng.uniform(-2.0, 2.0, (ROWS + TEST_ROWS, 3))
    mean = np.floor(1.5 * X[:, 0]) + 2.0 * (X[:, 1] > 0.0)
    return Drawn(X, mean + rng.normal(0.0, 0.2, len(X)), mean)


def heteroscedastic(rng: Rng) -> Drawn:
    """Noise whose sd grows twentyfold with the first of two inputs."""
    X = rng.uniform(0.0, 1.0, (ROWS + TEST_ROWS, 2))
    mean = np.sin(4.0 * X[:, 0]) + X[:, 1]
    return Drawn(X, mean + rng.normal(size=len(X)) * 0.05 * np.exp(3.0 * X[:, 0]), mean)


def periodic(rng: Rng) -> Drawn:
    """Eight periods of a wave with its first overtone, on a slope."""
    X = rng.uniform(0.0, 8.0, (ROWS + TEST_ROWS, 1))
    angle = 2.0 * np.pi * X[:, 0]
    X = np.column_stack([X, rng.normal(size=len(X))])
    mean = np.sin(angle) + 0.5 * np.cos(2.0 * angle) + 0.2 * X[:, 0]
    return Drawn(X, mean + rng.normal(0.0, 0.2, len(X)), mean)


def heavy_tails(rng: Rng) -> Drawn:
    """Student's noise of two degrees of freedom: a few targets lie far away."""
    X = rng.uniform(-2.0, 2.0, (ROWS + TEST_ROWS, 3))
    mean = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2
    return Drawn(X, mean + 0.2 * rng.standard_t(2.0, len(X)), mean)


def exact(rng: Rng) -> Drawn:
    """A smooth function of four inputs with noise of one millionth of its sd."""
    X = rng.uniform(-1.0, 1.0, (ROWS + TEST_ROWS, 4))
    mean = np.exp(0.5 * X[:, 0]) * np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    return Drawn(X, mean + rng.normal(0.0, 1e-6 * mean.std(), len(X)), mean)


def duplicates(rng: Rng) -> Drawn:
    """Sixty distinct rows of inputs, each four times and more, with noise of its own every time."""
    places = rng.uniform(-2.0, 2.0, (60, 3))
    X = places[rng.integers(0, len(places), ROWS + TEST_ROWS)]
    mean = np.sin(2.0 * X[:, 0]) + X[:, 1]
    return Drawn(X, mean + rng.normal(0.0, 0.3, len(X)), mean)


def imbalanced(rng: Rng) -> Drawn:
    """Two classes of which the second has about one row in twenty, inside a ring of the other."""
    rows = 400
    X = rng.normal(size=(rows + TEST_ROWS, 4))
    latent = 1.0 - 6.0 * np.hypot(X[:, 0] - 0.5, X[:, 1])
    return _two_classes(rng, X, latent, rows=rows)


GENERATORS: dict[str, tuple[Task, Callable[[Rng], Drawn]]] = {
    "trend": ("regression", trend),
    "irrelevant inputs": ("regression", irrelevant),
    "steps": ("regression", steps),
    "heteroscedastic": ("regression", heteroscedastic),
    "periodic": ("regression", periodic),
    "heavy tails": ("regression", heavy_tails),
    "near-zero noise": ("regression", exact),
    "duplicates": ("regression", duplicates),
    "factors": ("classification", factors),
    "imbalanced": ("classification", imbalanced),
}


def generated() -> list[Source]:
    """All generators."""
    return [Source(name, task, partial(drawn, name)) for name, (task, _) in GENERATORS.items()]


def drawn(name: str, number: int) -> TableSplit:
    """A draw of a generator as a split of a table."""
    task, draw = GENERATORS[name]
    found = draw(np.random.default_rng((SEED, list(GENERATORS).index(name), number)))
    classes = ("0", "1") if task == "classification" else ()
    columns = tuple(Column(f"x{place + 1}", found.X[:, place]) for place in range(found.X.shape[1]))
    table = DataTable(name, task, columns, found.t, classes)
    rows = np.arange(len(found.t))
    return TableSplit(table, number, rows[: found.rows], rows[found.rows :], found.truth)


def _two_classes(rng: Rng, X: Array, latent: Array, *, rows: int) -> Drawn:
    probability = 1.0 / (1.0 + np.exp(-latent))
    t = (rng.uniform(size=len(latent)) < probability).astype(np.float64)
    return Drawn(X, t, np.column_stack([1.0 - probability, probability]), rows=rows)
