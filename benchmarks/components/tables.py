"""The rows that carry the components of all rows, and the detection of new rows by them."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.stats import rankdata

from benchmarks.components.cases import DIGITS, Rows, digit, moons
from benchmarks.components.full import Centred, FullComponents, sparse
from benchmarks.options import Options
from benchmarks.prediction_time import milliseconds
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table
from relevance_bayes.core.types import Array

SHARES = (0.5, 0.7, 0.8, 0.9, 0.95)
TIMED_ROWS = 10_000
NOVELTY_SHARES = (0.7, 0.9)
OUTSIDE = 0.1
MAX_DRAWS = 10

ENGINES = (*(f"{engine}, {share:.0%}" for engine in ("ours", "KernelPCA") for share in NOVELTY_SHARES), "OneClassSVM")

HEADER = (
    "rows",
    "N",
    "explained",
    "components",
    "rows kept",
    "agreement",
    "missed, ours",
    "of all rows",
    "projection, ms",
    "KernelPCA, ms",
    "times faster",
)

NOTES = (
    (
        "Components: as many as explain the share of the variance of all rows' images. Agreement: the mean squared "
        "cosine of the angles between our first axes and those of all rows, by definition. Missed: the share of the "
        "images of fresh rows that so many components don't reach, ours and those of all rows."
    ),
    (
        "Projections of 10,000 rows, CPU time of one thread, medians of 5; KernelPCA is scikit-learn's, as many "
        "components, the same kernel. Moons: r = .5; digit: a hand-written 3 of scikit-learn's, 64 inputs, r the "
        "median distance."
    ),
)

NOVELTY_HEADER = ("rows", "engine", "area under the curve", "functions", "of N", "ms for 1,000 rows")

NOVELTY_NOTES = (
    (
        "How probably a usual row scores higher than a new one. Moons: 400 rows to learn from, 400 like them, and 400 "
        "drawn uniformly, 3 sd and more apart from the moons. Digits: for each of the ten half its rows to learn from, "
        "the others usual, all other digits new."
    ),
    (
        "All have the same kernel and width, and nothing was tuned. Ours: the log density, of components that explain "
        "70 or 90 %. KernelPCA: scikit-learn's, as many components as explain so much, less what is left of the image "
        "(Hoffmann, Pattern Recognition 40, 2007). OneClassSVM: nu = .1."
    ),
)


def components(options: Options) -> list[Table]:
    """Components, and novelty."""
    rows = [_row(name, case, share) for name, case in (("moons", moons(0)), ("a digit", digit(3))) for share in SHARES]
    draws = min(options.accuracy_draws, MAX_DRAWS)
    novelty: list[tuple[str, ...]] = []
    for name, make, number in (("moons", moons, draws), ("digits, one against nine", digit, min(draws, DIGITS))):
        found = repeated(partial(_novelty, make), number, processes=options.processes)
        novelty += [(f"{name}, {number}", engine, *_cells(found, engine)) for engine in ENGINES]
    return [
        Table("Components on few rows", HEADER, tuple(rows), NOTES),
        Table("What is new", NOVELTY_HEADER, tuple(novelty), NOVELTY_NOTES),
    ]


def needed(rows: Rows, explained: float) -> int:
    """Components of all rows that explain so much."""
    values = np.linalg.eigvalsh(rows.kernel(rows.learned, rows.learned))[::-1]
    return int(np.searchsorted(np.cumsum(values), explained * values.sum())) + 1


def _row(name: str, rows: Rows, share: float) -> tuple[str, ...]:
    few, number = sparse(rows, share), needed(rows, share)
    number = min(number, len(few.variances))
    every = FullComponents.of(rows, number)
    X = np.resize(rows.usual, (TIMED_ROWS, rows.usual.shape[1]))
    ours, theirs = (milliseconds(one, X) for one in (few.project, Centred.of(rows, number).project))
    return (
        name,
        str(len(rows.learned)),
        f"{share:g}",
        str(number),
        str(len(few.rows)),
        f"{every.agreement(few):.3f}",
        f"{few.missed(rows.usual, number).mean():.4f}",
        f"{every.missed(rows.usual).mean():.4f}",
        f"{ours:.1f}",
        f"{theirs:.1f}",
        f"{theirs / ours:.1f}",
    )


def _novelty(make: Callable[[int], Rows], draw: int) -> Figures:
    from sklearn.svm import OneClassSVM

    rows = make(draw)
    scores: dict[str, tuple[Callable[[Array], Array], int]] = {}
    for share in NOVELTY_SHARES:
        few, centred = sparse(rows, share), Centred.of(rows, needed(rows, share))
        scores[f"ours, {share:.0%}"] = (few.log_density, len(few.rows))
        scores[f"KernelPCA, {share:.0%}"] = (centred.reached, len(rows.learned))
    machine = OneClassSVM(gamma=rows.width**-2, nu=OUTSIDE).fit(rows.learned)
    scores["OneClassSVM"] = (machine.decision_function, len(machine.support_))
    figures = Figures()
    timed = np.resize(rows.new, (1_000, rows.new.shape[1]))
    for name, (score, functions) in scores.items():
        figures[f"{name} area"] = area(score(rows.new), score(rows.usual))
        figures[f"{name} functions"] = float(functions)
        figures[f"{name} rows"] = float(len(rows.learned))
        figures[f"{name} ms"] = milliseconds(score, timed)
    return figures


def area(lower: Array, upper: Array) -> float:
    """The probability that one of the upper is larger, ties counted half."""
    ranks = rankdata(np.concatenate([lower, upper]))[len(lower) :]
    return float((ranks.mean() - 0.5 * (len(upper) + 1)) / len(lower))


def _cells(found: list[Figures], engine: str) -> tuple[str, ...]:
    return (
        with_error(found, f"{engine} area", digits=4),
        f"{mean(found, f'{engine} functions'):.1f}",
        f"{mean(found, f'{engine} rows'):.0f}",
        f"{mean(found, f'{engine} ms'):.2f}",
    )
