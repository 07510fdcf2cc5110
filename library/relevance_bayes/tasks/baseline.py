"""The baseline of a version: histograms of training rows and of predictions for them."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, CategoryColumn, Column, NumberColumn, block_rows
from relevance_bayes.tables.histograms import histogram_of
from relevance_bayes.tasks.decisions import most_probable
from relevance_bayes.tasks.options import PredictOptions
from relevance_bayes.tasks.prediction import PredictiveModel
from relevance_bayes.types.baselines import Baseline
from relevance_bayes.types.values import InputColumn, Label, text_of

MAX_INPUTS = 100
"""The number of inputs with a histogram, the first of a version."""


Monitored: TypeAlias = tuple[str, Array]
"""The name of an output and its values: numbers (N,), or probabilities (N, K)."""


def monitored_of(sample: Block, model: PredictiveModel) -> Monitored | None:
    """Return the predictions for a sample of training rows; None without rows."""
    return model.predict(sample, PredictOptions()).monitored if block_rows(sample) else None


def baseline_of(
    sample: Block,
    inputs: Sequence[InputColumn],
    target: str | None,
    monitored: Monitored | None,
    classes: Sequence[Label] = (),
) -> Baseline | None:
    """Return the baseline of a sample of training rows and of the predictions for them; None without rows."""
    if monitored is None:
        return None
    name, values = monitored
    return Baseline(
        rows=block_rows(sample),
        inputs=tuple(histogram_of(column.name, sample[column.name]) for column in inputs[:MAX_INPUTS]),
        target=None if target is None else histogram_of(target, sample[target]),
        predictions=histogram_of(_name(name, classes), monitored_column(values, classes)),
    )


def monitored_column(values: Array, classes: Sequence[Label]) -> Column:
    """Return monitored predictions as a column: numbers (N,), or from the probabilities (N, K) of the `classes` those
    of the second of two classes, the most probable of more; without rows with a fault."""
    if values.ndim == 1:
        return NumberColumn(values[~np.isnan(values)])
    sound = values[~np.isnan(values[:, 0])]
    if len(classes) == 2:
        return NumberColumn(sound[:, 1])
    return CategoryColumn(most_probable(sound).astype(np.int32), tuple(map(text_of, classes)))


def _name(name: str, classes: Sequence[Label]) -> str:
    if not classes:
        return name
    return f"probability_{text_of(classes[1])}" if len(classes) == 2 else "label"
