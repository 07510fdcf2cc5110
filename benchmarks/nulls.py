"""Rows to predict with missing inputs: coverage, and the log score beside that of a model trained without them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.files import DataFolder, NotRun, Split
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated
from benchmarks.report import Table, not_run
from relevance_bayes.core.types import Indices
from relevance_bayes.documents import schema
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.estimators import RelevanceRegressor
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.prediction import LabelledNumbers
from relevance_bayes.tasks.supervised.prediction import SupervisedModel

TABLES = ("autompg", "airfoil", "concrete", "energy", "yacht", "drawn", "drawn, correlated")
ROWS, TEST_ROWS, MANY = 300, 600, 8
HEADER = ("table", "missing", "coverage", "log score", "trained without them", "widened by")
MEASURED = (
    f"At most {ROWS} training rows, `effort` `quick`, measured on up to {TEST_ROWS} others. Missing: the input without"
    " which intervals are widest, the next one, both, the last one, and all. Log score: the mean log density of the"
    " target, in nats a row; for all inputs beside that of a normal distribution with the target's mean and sd."
)
GOALS = (
    "Widened by: the mean width of the intervals over that with all inputs known. Goals: coverage at least 0.93, a log"
    " score at most 0.05 nats below the other."
)


def nulls(options: Options) -> list[Table]:
    """Five real tables, and two drawn ones."""
    title = "Missing inputs of rows to predict"
    names = TABLES[-2:] if options.quick else TABLES
    try:
        found = repeated(partial(_measured, options.data, names), len(names), processes=options.processes)
    except NotRun as reason:
        return [not_run(title, reason)]
    rows = tuple(_row(name, key, one) for name, one in zip(names, found, strict=True) for key in _cases(one))
    return [Table(title, HEADER, rows, (MEASURED, GOALS))]


def _cases(found: Figures) -> list[str]:
    return [name.removesuffix(" coverage") for name in found if name.endswith(" coverage")]


def _row(name: str, case: str, found: Figures) -> tuple[str, ...]:
    kinds = ("coverage", "score", "without", "width")
    return (name, case, *(f"{found[f'{case} {kind}']:.3f}" for kind in kinds))


def _measured(data: DataFolder, names: Sequence[str], number: int) -> Figures:
    """The figures of one table, by case and kind."""
    split = _split(data, names[number])
    whole = _Fitted.of(split, np.arange(split.X.shape[1]))
    known = whole.predict(split, ())
    found: Figures = {}
    for case, missing in _missing(whole, split):
        one = whole.predict(split, missing)
        rest = np.setdiff1d(np.arange(split.X.shape[1]), missing)
        without = _Fitted.of(split, rest).predict(split, ()).score if len(rest) else _normal(split)
        found |= {f"{case} coverage": one.coverage, f"{case} score": one.score, f"{case} without": without}
        found[f"{case} width"] = one.width / known.width
    return found


def _missing(whole: "_Fitted", split: Split) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The inputs that are missing in each case, ordered by the width of the intervals without them."""
    d = split.X.shape[1]
    widths = np.array([whole.predict(split, (place,)).width for place in range(d)])
    first, second, *others = np.argsort(-widths, kind="stable").tolist()
    yield "first", (first,)
    yield "second", (second,)
    yield "both", (first, second)
    if others:
        yield "last", (others[-1],)
    yield "all", tuple(range(d))


def _split(data: DataFolder, name: str) -> Split:
    """Few rows to learn from, and others."""
    if name.startswith("drawn"):
        return _drawn(0.8 if "correlated" in name else 0.0)
    found = data.published(name, 0) if name in {"autompg", "airfoil"} else data.uci(name, 0)
    X, t = np.concatenate([found.X, found.X_test]), np.concatenate([found.t, found.t_test])
    order = np.random.default_rng(0).permutation(len(t))
    rows, others = order[: min(ROWS, int(0.7 * len(t)))], order[min(ROWS, int(0.7 * len(t))) :][:TEST_ROWS]
    return Split(X[rows], t[rows], X[others], t[others])


def _drawn(correlation: float) -> Split:
    """Four inputs, of which the first two are correlated and the last has no effect."""
    random = np.random.default_rng(1)
    X = random.standard_normal((ROWS + TEST_ROWS, 4))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1.0 - correlation**2) * X[:, 1]
    t = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * X[:, 2] + 0.3 * random.standard_normal(len(X))
    return Split(X[:ROWS], t[:ROWS], X[ROWS:], t[ROWS:])


def _normal(split: Split) -> float:
    mean, variance = split.t.mean(), split.t.var()
    return float(np.mean(-0.5 * np.log(2.0 * np.pi * variance) - 0.5 * (split.t_test - mean) ** 2 / variance))


@dataclass(frozen=True)
class _Result:
    """Predictions of the rows that are measured: the coverage of 95 % intervals, their width, and the log score."""

    coverage: float
    width: float
    score: float


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A model of some `inputs` (k,)."""

    model: SupervisedModel
    inputs: Indices

    @classmethod
    def of(cls, split: Split, inputs: Indices) -> "_Fitted":
        fitted = RelevanceRegressor(effort="quick").fit(split.X[:, inputs], split.t)
        exported = schema.read(fitted.document_)
        assert isinstance(exported, ExportedSupervised)
        return cls(SupervisedModel.of(exported.predictor, exported.report), inputs)

    def predict(self, split: Split, missing: tuple[int, ...]) -> _Result:
        X = split.X_test.copy()
        X[:, list(missing)] = np.nan
        names = self.model.inputs
        inputs: Block = {name: NumberArray(X[:, place]) for name, place in zip(names, self.inputs, strict=True)}
        target: Block = {self.model.target[0]: NumberArray(split.t_test)}
        found = [
            one for one in self.model.evaluate_block({**inputs, **target}).labelled if isinstance(one, LabelledNumbers)
        ]
        t, lower, upper, density = (
            np.concatenate(parts, axis=-1)
            for parts in zip(
                *((one.target, one.lower[-1], one.upper[-1], one.log_density) for one in found), strict=True
            )
        )
        inside = (lower <= t) & (t <= upper)
        return _Result(float(inside.mean()), float(np.mean(upper - lower)), float(density.mean()))
