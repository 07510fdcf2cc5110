"""The cross-validation of a whole training: repeated on each fold's training rows, and measured on the fold."""

from collections.abc import Callable, Generator, Sequence

import numpy as np

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.pool import LearnedModel, ready_of
from relevance_bayes.core.prediction import FIGURES, Measured
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import figures
from relevance_bayes.core.types import Array

Learning = Callable[[Rows, Folding], Generator[Step, None, LearnedModel]]
"""A whole training on some rows, whose inner folds follow the `Folding`."""


def validated(
    rows: Rows, learning: Learning, splits: Sequence[Split], folding: Folding, fit_log: FitLog
) -> Generator[Step, None, dict[str, float]]:
    """Scores over all measured rows, each of them once, and their number `rows`.

    A fold whose training rows can't be fitted is skipped; if all are skipped, `rows` of 0 is the only member. The log
    keeps the figures of each measured fold's rows.
    """
    parts: list[Measured] = []
    yield Step("validation", 0, len(splits), "fits")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place = fit_log.begin()
            step = Step("validation", number, len(splits), "fits")
            table = yield from _table(learning(rows.take(others), folding.take(others)), rows.take(fold), step)
            fit_log.record(place, table)
        part = measured(table, rows.t[fold])
        if part.each:
            parts.append(part)
        yield Step("validation", number + 1, len(splits), "fits")
    return figures(Measured.joined(parts)) if parts else {"rows": 0.0}


def _table(steps: Generator[Step, None, LearnedModel], fold: Rows, step: Step) -> Generator[Step, None, Array]:
    """FIGURES (6, n) of a fold's rows by the model learned in `steps`, NaN where a target has no such figure."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return figures_of_rows(ended.value, fold)
        except (DataError, NotPositiveDefiniteError):
            return np.full((len(FIGURES), len(fold.t)), np.nan)
        yield step


def figures_of_rows(model: LearnedModel, fold: Rows) -> Array:
    """FIGURES (6, n) of rows by a model, NaN where a target has no such figure."""
    prediction, _ = ready_of(model).predict(fold.X, fold.noise_sd)
    each, nothing = Measured.of(prediction, fold.t).each, np.full(len(fold.t), np.nan)
    return np.array([each.get(name, nothing) for name in FIGURES])


def measured(table: Array, t: Array) -> Measured:
    """The figures (6, n) of rows with the targets t (n,)."""
    return Measured(t, {name: row for name, row in zip(FIGURES, table, strict=True) if not np.isnan(row).all()})
