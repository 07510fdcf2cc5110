"""Small trainings of generated rows, one for each task, likelihood and option whose figures are compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from benchmarks.generators import RIPLEY_MEANS, RIPLEY_VARIANCE, friedman
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray, TimestampArray, taken

TARGET = "y"

NEW_ROWS = 500
"""Rows of each draw that are predicted and not trained on."""

SEED = 4_711

DAY = 86_400.0
"""Seconds."""

FIRST_DAY = 1_577_836_800.0
"""1 January 2020, in seconds since 1970 UTC."""

Draw = Callable[[Generator, int], Block]
"""Rows of a table with the target `y`, as many as specified."""


@dataclass(frozen=True)
class Golden:
    """A training of `rows` rows of a draw by the `options` of a request, and predictions of its other rows.

    `costs` are those of decisions between classes. `why` explains the difference between the stored figures "before"
    and "after" in one sentence; empty where choice and predictions are the same.
    """

    name: str
    rows: int
    draw: Draw
    options: Mapping[str, object] = field(default_factory=dict)
    costs: tuple[tuple[float, ...], ...] | None = None
    why: str = ""

    def blocks(self) -> tuple[Block, Block]:
        """Return the training rows and the new ones, a pure function of the name."""
        seeds = (SEED, self.rows, *self.name.encode())
        block = self.draw(np.random.default_rng(seeds), self.rows + NEW_ROWS)
        parts = slice(0, self.rows), slice(self.rows, self.rows + NEW_ROWS)
        learned, new = ({name: taken(column, part) for name, column in block.items()} for part in parts)
        return learned, new


def table(X: Array, t: Array, **others: Column) -> Block:
    """Return the columns of X (N, k) as x0, x1, ..., `others`, and the target t (N,)."""
    inputs = {f"x{number}": NumberArray(np.ascontiguousarray(values)) for number, values in enumerate(X.T)}
    return {**inputs, **others, TARGET: NumberArray(np.asarray(t, np.float64))}


def classes(X: Array, labels: Indices) -> Block:
    """Return the columns of X (N, k) as x0, x1, ..., and the classes (N,) as texts."""
    names = tuple(f"class {number}" for number in range(int(labels.max()) + 1))
    return {**table(X, np.zeros(len(X))), TARGET: CategoryArray(labels.astype(np.int32), names)}


def friedman_rows(inputs: int, noise_sd: float = 1.0) -> Draw:
    """Friedman's function 1 of the first five inputs, with noise."""

    def draw(rng: Generator, rows: int) -> Block:
        X = rng.uniform(size=(rows, inputs))
        return table(X, friedman(1, X) + noise_sd * rng.normal(size=rows))

    return draw


def curve(noise_sd: float) -> Draw:
    """sin(2 x0) of one input with noise."""

    def draw(rng: Generator, rows: int) -> Block:
        X = rng.uniform(-3.0, 3.0, (rows, 1))
        return table(X, np.sin(2.0 * X[:, 0]) + noise_sd * rng.normal(size=rows))

    return draw


def line(rng: Generator, rows: int) -> Block:
    """x0 with noise of sd 0.5."""
    X = rng.uniform(-2.0, 2.0, (rows, 1))
    return table(X, X[:, 0] + 0.5 * rng.normal(size=rows))


def surface(X: Array) -> Array:
    """Return a smooth function (N,) of the first two inputs, of standard deviation about 1."""
    return np.asarray(np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2)


def smooth(rng: Generator, rows: int) -> Block:
    """A smooth function of two of three inputs with noise of sd 0.2."""
    X = rng.normal(size=(rows, 3))
    return table(X, surface(X) + 0.2 * rng.normal(size=rows))


def noise(rng: Generator, rows: int) -> Block:
    """Targets without any relation to two inputs."""
    return table(rng.normal(size=(rows, 2)), rng.normal(size=rows))


def oscillation(rng: Generator, rows: int) -> Block:
    """Ten periods of a sine with noise of sd 0.1."""
    X = rng.uniform(size=(rows, 1))
    return table(X, np.sin(20.0 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=rows))


def outlying_input(rng: Generator, rows: int) -> Block:
    """A first row with an input 18 standard deviations out, where the function is clipped."""
    X = rng.normal(size=(rows, 3))
    X[0, 0] = 18.0
    t = 0.6 * np.clip(X[:, 0], -3.0, 3.0) + np.sin(3.0 * X[:, 1])
    return table(X, t + 0.05 * rng.normal(size=rows))


def known_noise(rng: Generator, rows: int) -> Block:
    """A smooth function with noise of an sd that each row has in a column."""
    X, sd = rng.normal(size=(rows, 2)), rng.uniform(0.1, 1.0, rows)
    return table(X, surface(X) + sd * rng.normal(size=rows), sd=NumberArray(sd))


def outliers(rng: Generator, rows: int) -> Block:
    """A smooth function with noise of Student's t with two degrees of freedom."""
    X = rng.normal(size=(rows, 2))
    return table(X, surface(X) + 0.2 * rng.standard_t(2.0, rows))


def positive(rng: Generator, rows: int) -> Block:
    """Positive targets whose logarithm has noise of sd 0.4."""
    X = rng.normal(size=(rows, 2))
    return table(X, np.exp(surface(X) + 0.4 * rng.normal(size=rows)))


def counts(dispersion: float | None) -> Draw:
    """Counts with a mean that is the exponential of a smooth function."""

    def draw(rng: Generator, rows: int) -> Block:
        X = rng.normal(size=(rows, 2))
        mean = 3.0 * np.exp(0.6 * np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1])
        rate = mean if dispersion is None else mean * rng.gamma(dispersion, 1.0 / dispersion, rows)
        return table(X, rng.poisson(rate).astype(np.float64))

    return draw


def noise_by_input(rng: Generator, rows: int) -> Block:
    """A curve whose noise grows from an sd of 0.05 to one of 1."""
    X = rng.uniform(size=(rows, 1))
    return table(X, np.sin(6.0 * X[:, 0]) + 0.05 * 20.0 ** X[:, 0] * rng.normal(size=rows))


def ripley(share: float) -> Draw:
    """Ripley's mixture; `share` is the frequency of the second class."""

    def draw(rng: Generator, rows: int) -> Block:
        labels, component = rng.choice(2, rows, p=(1.0 - share, share)), rng.integers(2, size=rows)
        X = np.asarray(RIPLEY_MEANS)[labels, component] + rng.normal(0.0, RIPLEY_VARIANCE**0.5, (rows, 2))
        return classes(X, labels)

    return draw


def several_classes(number: int) -> Draw:
    """Classes around as many points of a circle, with a third input that has no effect."""

    def draw(rng: Generator, rows: int) -> Block:
        labels = rng.integers(number, size=rows)
        angles = 2.0 * np.pi * labels / number
        X = rng.normal(size=(rows, 3))
        X[:, :2] = 1.5 * np.column_stack([np.cos(angles), np.sin(angles)]) + X[:, :2]
        return classes(X, labels)

    return draw


def groups(rng: Generator, rows: int) -> Block:
    """Groups of ten rows with an effect of their own, beside a smooth function."""
    X = rng.normal(size=(rows, 2))
    group = np.arange(rows) // 10
    effects = rng.normal(size=group.max() + 1)
    names = CategoryArray(group.astype(np.int32), tuple(f"group {number}" for number in range(len(effects))))
    return table(X, surface(X) + 0.7 * effects[group] + 0.2 * rng.normal(size=rows), group=names)


def series(rng: Generator, rows: int) -> Block:
    """A slow trend and the effect of an input, in the order of time; the new rows are later."""
    time = np.arange(rows, dtype=np.float64)
    X = np.column_stack([rng.normal(size=rows), time + rng.uniform(0.0, 0.5, rows)])
    return table(X, np.sin(X[:, 0]) + 0.002 * X[:, 1] + 0.2 * rng.normal(size=rows))


def calendar(rng: Generator, rows: int) -> Block:
    """A season, a day of the week and a trend on days of three years."""
    day = rng.permutation(3 * 365)[:rows].astype(np.float64)
    season, weekend = np.sin(2.0 * np.pi * day / 365.25), (day % 7 >= 5).astype(np.float64)
    moments = TimestampArray(FIRST_DAY + DAY * day)
    return table(np.empty((rows, 0)), season - weekend + 0.001 * day + 0.2 * rng.normal(size=rows), day=moments)


def texts(rng: Generator, rows: int) -> Block:
    """A text of 80 values with an effect of its own, beside a smooth function."""
    X, codes, effects = rng.normal(size=(rows, 2)), rng.integers(80, size=rows), rng.normal(size=80)
    shops = CategoryArray(codes.astype(np.int32), tuple(f"shop {number}" for number in range(80)))
    return table(X, surface(X) + effects[codes] + 0.2 * rng.normal(size=rows), shop=shops)


def categories(rng: Generator, rows: int) -> Block:
    """A category of four values and two numbers, one of which has gaps."""
    X, codes = rng.normal(size=(rows, 2)), rng.integers(4, size=rows)
    t = np.sin(X[:, 0]) + np.array([-1.0, 0.0, 0.5, 2.0])[codes] + 0.5 * X[:, 1] + 0.2 * rng.normal(size=rows)
    X[rng.uniform(size=rows) < 0.1, 1] = np.nan
    return table(X, t, colour=CategoryArray(codes.astype(np.int32), ("black", "blue", "green", "red")))


def linear(rng: Generator, rows: int) -> Block:
    """A linear function of six inputs, two of them without effect."""
    X = rng.normal(size=(rows, 6))
    return table(X, X @ np.array([1.0, -2.0, 0.5, 0.2, 0.0, 0.0]) + 0.5 * rng.normal(size=rows))


def rough(rng: Generator, rows: int) -> Block:
    """A function of two inputs with several hills on each axis, and noise of sd 0.1."""
    X = rng.uniform(size=(rows, 2))
    return table(X, np.sin(12.0 * X[:, 0]) * np.cos(9.0 * X[:, 1]) + 0.1 * rng.normal(size=rows))


def additive(rng: Generator, rows: int) -> Block:
    """A sum of functions of one input each."""
    X = rng.uniform(-2.0, 2.0, (rows, 3))
    return table(X, np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.2 * rng.normal(size=rows))


def likelihood(name: str, **members: object) -> Mapping[str, object]:
    """Return the option of a likelihood."""
    return {"likelihood": {"type": name, **members}}


INDEPENDENT: Mapping[str, object] = {"prior": {"type": "independent"}}

FIXED_WIDTH: Mapping[str, object] = {"basis": {"type": "kernel", "width": {"type": "fixed", "value": 0.5}}}

GOLDENS = (
    Golden(
        "four rows",
        4,
        line,
        why="Predictions are Student's t with the noise variance times n/(n - 1); a held-out row counts with a bound.",
    ),
    Golden(
        "ten rows",
        10,
        line,
        why="Independent weights for a process: the same line, and the noise variance times n/(n - 1).",
    ),
    Golden("curve", 100, curve(0.1)),
    Golden(
        "curve without noise",
        60,
        curve(0.0),
        why="A warped member has the weight; why is open, errors are 0.0004 of a target of sd 0.7.",
    ),
    Golden(
        "noise alone",
        100,
        noise,
        why="Independent weights score 0.03 more in the folds, less than the two standard errors of a choice.",
    ),
    Golden(
        "ten periods",
        200,
        oscillation,
        why="Score 0.35 to 0.71: short length scales are found, and noise by inputs is no longer taken.",
    ),
    Golden("one input far out", 120, outlying_input, why="The row counts with a bound, where it decided the weights."),
    Golden(
        "friedman",
        240,
        friedman_rows(10),
        why="Two members share the weight, one before; scores differ by a quarter of their standard error.",
    ),
    Golden(
        "many rows",
        2_500,
        friedman_rows(5),
        why="The score is of rows that the scales have not seen; a warped member for a plain one.",
    ),
    Golden("linear", 150, linear),
    Golden(
        "categories and gaps",
        200,
        categories,
        why="Noise by inputs is taken, 0.24 above the best process; independent weights before.",
    ),
    Golden(
        "known noise",
        100,
        curve(0.2),
        likelihood("gaussian", noise_sd=0.2),
        why="The order of functions ends at a loss of 0.0099 nats a row, 0.0037 before, which widens an interval.",
    ),
    Golden("noise by row", 150, known_noise, likelihood("gaussian", noise_sd={"column": "sd"})),
    Golden("outliers", 150, outliers, why="A row counts with a bound and is named."),
    Golden(
        "student_t",
        150,
        outliers,
        likelihood("student_t"),
        why="10 functions for 14; why is open, scores differ by less than a standard error.",
    ),
    Golden(
        "positive",
        200,
        positive,
        why="With a standard error of 2.2 the logarithm was not taken; rows count with a bound now.",
    ),
    Golden("log_gaussian", 200, positive, likelihood("log_gaussian")),
    Golden("poisson", 200, counts(None), likelihood("poisson")),
    Golden("negative_binomial", 200, counts(2.0), likelihood("negative_binomial")),
    Golden("noise by input", 200, noise_by_input),
    Golden("heteroscedastic", 150, noise_by_input, likelihood("gaussian", noise_sd="heteroscedastic")),
    Golden("two classes", 200, ripley(0.5)),
    Golden("costs", 200, ripley(0.2), costs=((0.0, 1.0), (5.0, 0.0))),
    Golden(
        "four classes",
        160,
        several_classes(4),
        why="Scores of both kernels differ by 0.005, a tenth of the standard error; 47 functions for 127.",
    ),
    Golden("categorical", 150, several_classes(3), likelihood("categorical")),
    Golden("one_against_rest", 150, several_classes(3), likelihood("one_against_rest")),
    Golden("quick", 240, friedman_rows(5), {"effort": "quick"}),
    Golden(
        "thorough",
        120,
        smooth,
        {"effort": "thorough"},
        why="16 functions for 15; scores differ by less than a standard error.",
    ),
    Golden(
        "validation",
        100,
        smooth,
        {"validation": {"folds": 5}},
        why="A plain member for a warped one; its score is 0.05 higher, its error here 0.017 higher too.",
    ),
    Golden(
        "holdout, small",
        300,
        smooth,
        {"holdout": 0.2, "prefer": "small", "seed": 3},
        why="One member for two; 15 functions for 36 at a lower error.",
    ),
    Golden(
        "groups",
        200,
        groups,
        {"split": {"type": "group", "column": "group"}},
        why="The second member, of 7 % before, has no weight.",
    ),
    Golden(
        "order",
        200,
        series,
        {"split": {"type": "order", "column": "x1"}},
        why="A warped member for a plain one; scores differ by 0.002.",
    ),
    Golden(
        "inputs",
        120,
        smooth,
        {"inputs": ["x0", "x2"]},
        why="A warped member for a plain one; scores differ by a seventh of the standard error.",
    ),
    Golden("calendar", 300, calendar, why="Another kernel with the same score to 0.001."),
    Golden(
        "texts",
        400,
        texts,
        {"text": "target"},
        why="A plain member for a warped one; scores differ by less than a standard error.",
    ),
    Golden("linear columns", 150, linear, {"basis": [{"type": "inputs"}, {"type": "bias"}], **INDEPENDENT}),
    Golden("independent weights", 80, curve(0.2), INDEPENDENT),
    Golden("re_estimation", 80, curve(0.2), {**INDEPENDENT, **FIXED_WIDTH, "algorithm": {"type": "re_estimation"}}),
    Golden(
        "neighbours",
        700,
        rough,
        {"local": {"type": "neighbours", "neighbours": 64}},
        why="Another kernel, and functions beside the neighbours; scores are within 0.005, the error is the same.",
    ),
    Golden(
        "max_functions",
        300,
        rough,
        {"prior": {"type": "gaussian_process", "max_functions": 20}},
        why="Other functions of the same number; scores differ by 0.002.",
    ),
    Golden(
        "additive",
        200,
        additive,
        {"basis": {"type": "kernel", "additive": "evidence"}},
        why="18 functions for 19; errors are the same to 0.0001.",
    ),
)
