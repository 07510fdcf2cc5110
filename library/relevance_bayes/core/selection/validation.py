"""The cross-validation of a whole training: repeated on each fold's training rows, and measured on the fold."""

from collections.abc import Callable, Generator, Sequence

import numpy as np

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.pool import LearnedModel, ready_of
from relevance_bayes.core.prediction import FIGURES, Measured
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import MeasuredRows, Validation
from relevance_bayes.core.types import Array, Indices

Learning = Callable[[Rows, Folding], Generator[Step, None, LearnedModel]]
"""A whole training on some rows, whose inner folds follow the `Folding`."""


def validated(
    rows: Rows, learning: Learning, splits: Sequence[Split], folding: Folding, fit_log: FitLog
) -> Generator[Step, None, Validation]:
    """The measured rows, each of them once.

    A fold whose training rows can't be fitted is skipped. The log keeps the figures and predictions of each measured
    fold's rows.
    """
    parts, folds = list[Measured](), list[Indices]()
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
            folds.append(fold)
        yield Step("validation", number + 1, len(splits), "fits")
    return Validation.of(Measured.joined(parts), np.concatenate(folds)) if parts else Validation({"rows": 0.0})


def _table(steps: Generator[Step, None, LearnedModel], fold: Rows, step: Step) -> Generator[Step, None, Array]:
    """The table (6 + J, n) of a fold's rows by the model learned in `steps`: see `table_of_rows`."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return table_of_rows(ended.value, fold)
        except (DataError, NotPositiveDefiniteError):
            return np.full((len(FIGURES), len(fold.t)), np.nan)
        yield step


def table_of_rows(model: LearnedModel, fold: Rows) -> Array:
    """FIGURES of rows by a model, NaN where a target has no such figure, and J outputs of `Measured`: (6 + J, n)."""
    found, nothing = measured_rows(model, fold), np.full(len(fold.t), np.nan)
    return np.array([*(found.each.get(name, nothing) for name in FIGURES), *found.outputs])


def measured_rows(model: LearnedModel, fold: Rows) -> Measured:
    """The predictions of rows by a model that did not learn from them."""
    prediction, _ = ready_of(model).predict(fold.X, fold.noise_sd)
    return Measured.of(prediction, fold.t)


def measured(table: Array, t: Array) -> Measured:
    """The rows of a table (6 + J, n), with the targets t (n,)."""
    pairs = zip(FIGURES, table[: len(FIGURES)], strict=True)
    return Measured(t, {name: row for name, row in pairs if not np.isnan(row).all()}, table[len(FIGURES) :])


def held_out_rows(model: LearnedModel, held_out: Rows | None) -> MeasuredRows | None:
    """All held-out rows by the model of a training, None without any."""
    return None if held_out is None else MeasuredRows(np.arange(len(held_out.t)), measured_rows(model, held_out))


def scores_of(found: MeasuredRows | None) -> dict[str, float]:
    """The scores of held-out rows, empty without any."""
    return {} if found is None else found.measured.scores()
