"""Rows that were predicted and came, drawn."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import EvaluationResult
from relevance_bayes.tasks.prediction import COVERAGES, LabelledClasses, LabelledNumbers

M = TypeVar("M")
P = TypeVar("P")

STATES = ("gas", "liquid", "solid")


def diagnostics_of(result: EvaluationResult[M, P]) -> P:
    assert result.diagnostics is not None
    return result.diagnostics


def numbers(rows: int, seed: int = 0, *, sd: float = 0.7) -> LabelledNumbers:
    """Predicted as normal; the truth scatters by 0.7, so that with another sd the prediction is wrong about that."""
    draws = np.random.default_rng(seed)
    mean = draws.normal(5.0, 2.0, rows)
    return judged_numbers(mean + draws.normal(0.0, 0.7, rows), mean, np.full(rows, sd))


def judged_numbers(target: Array, mean: Array, sd: Array) -> LabelledNumbers:
    """Under normal predictions."""
    standard = (target - mean) / sd
    upto = ndtr(standard)
    density = -0.5 * (np.square(standard) + np.log(2.0 * np.pi * sd**2))
    z = ndtri(0.5 + np.array(COVERAGES)[:, None] / 200.0)
    return LabelledNumbers(target, mean, sd, density, upto, upto, mean - z * sd, mean + z * sd)


def some_numbers(labelled: LabelledNumbers, rows: Indices) -> LabelledNumbers:
    """Those rows of them."""
    return LabelledNumbers(
        labelled.target[rows],
        labelled.mean[rows],
        labelled.sd[rows],
        labelled.log_density[rows],
        labelled.below[rows],
        labelled.upto[rows],
        labelled.lower[:, rows],
        labelled.upper[:, rows],
    )


def classes(rows: int, seed: int = 0, *, count: int = 3) -> LabelledClasses:
    """Drawn from the probabilities that are predicted."""
    draws = np.random.default_rng(seed)
    probabilities = softmax(draws.normal(0.0, 1.5, (rows, count)), axis=1)
    truth = (draws.random((rows, 1)) > probabilities.cumsum(axis=1)).sum(axis=1).astype(np.intp)
    return judged_classes(truth, probabilities, STATES[:count])


def judged_classes(truth: Indices, probabilities: Array, labels: tuple[str, ...] = STATES) -> LabelledClasses:
    """With the most probable as the label."""
    return LabelledClasses(labels, truth, probabilities, probabilities.argmax(axis=1))


def some_classes(labelled: LabelledClasses, rows: Indices) -> LabelledClasses:
    """Those rows of them."""
    return LabelledClasses(labelled.classes, labelled.truth[rows], labelled.probabilities[rows], labelled.chosen[rows])


def pieces(rows: int, *, of: int) -> Iterator[Indices]:
    """The places of consecutive rows, so many at a time."""
    for first in range(0, rows, of):
        yield np.arange(first, min(first + of, rows))
