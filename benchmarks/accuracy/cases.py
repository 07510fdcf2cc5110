"""The measured sets by name, each with the numbers of its splits; every split is drawn by a named seed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from benchmarks.files import DataFolder, Split
from benchmarks.generators import ACCURACY_SEED, noisy_friedman, noisy_friedman_twice, noisy_sinc, pure_noise, subset_of
from benchmarks.options import Options
from relevance_bayes.core.types import Array

UNTUNED_SPLITS = (3, 4, 5, 6, 7)
"""Defaults were tuned on the splits 0, 1 and 2 of the real sets of regression."""

UCI = ("concrete", "energy", "yacht", "power")
PUBLISHED = ("airfoil", "autompg", "kin40k")
IDA = ("banana", "titanic", "breast_cancer")

LARGE_ROWS = {"kin40k": 10_000, "letter": 5_000}
"""The maximum number of training rows of any engine."""

QUICK_ROWS = 600
"""To learn from, of every real set of regression and of letter."""


@dataclass(frozen=True, eq=False)
class Case:
    """One split, and the true function at the rows measured on where it is known."""

    split: Split
    truth: Array | None = None


@dataclass(frozen=True)
class DataSet:
    """`read` gives the case of each of `numbers`."""

    name: str
    read: Callable[[int], Case]
    numbers: tuple[int, ...]


def friedman(number: int, options: Options) -> DataSet:
    """Friedman's function 1, 2 or 3, drawn anew."""
    return DataSet(f"Friedman {number}", partial(_friedman, number), _draws(options))


def friedman_twice(options: Options) -> DataSet:
    """Thirty inputs of which twenty are noise; at most five draws."""
    return DataSet("Friedman 1 twice", _friedman_twice, _draws(options)[:5])


def sinc(noise: Literal["none", "gaussian", "uniform"], options: Options) -> DataSet:
    """sinc at 100 points; without noise there is one draw."""
    name = "no noise" if noise == "none" else f"{noise} noise 0.1"
    return DataSet(f"sinc, {name}", partial(_sinc, noise), (0,) if noise == "none" else _draws(options))


def noise(options: Options) -> DataSet:
    """Targets that have nothing to do with the inputs; the truth is 0."""
    return DataSet("pure noise, sd 1", _noise, _draws(options))


def real(name: str, options: Options) -> DataSet:
    """A real set of regression, on the splits that nothing was tuned on."""
    numbers = UNTUNED_SPLITS[: 1 if options.quick else options.real_splits]
    return DataSet(name, partial(_real, options.data, name, _max_rows(name, options)), numbers)


def two_classes(options: Options) -> list[DataSet]:
    """The papers' sets and wdbc."""
    folder, official = options.data, tuple(range(2 if options.quick else 10))
    return [
        DataSet("Ripley", partial(_ripley, folder), (0,)),
        DataSet("Ripley, 100 of 250", partial(_ripley_100, folder), _draws(options)),
        DataSet("Pima", partial(_pima, folder), (0,)),
        *(DataSet(name, partial(_ida, folder, name), official) for name in IDA),
        DataSet("wdbc", partial(_dealt, folder, "wdbc"), official),
    ]


def many_classes(options: Options) -> list[DataSet]:
    """Vehicle, 4 classes, by folds; letter, 26 classes, one division."""
    folds = tuple(range(2 if options.quick else 10))
    return [
        DataSet("vehicle", partial(_dealt, options.data, "vehicle"), folds),
        DataSet("letter", partial(_letter, options.data, _max_rows("letter", options)), (0,)),
    ]


def some_rows(split: Split, maximum: int, draw: int) -> Split:
    """At most so many rows to learn from, drawn by the named seed."""
    return split if len(split.t) <= maximum else subset_of(split, maximum, draw, seed=ACCURACY_SEED)


def _max_rows(name: str, options: Options) -> int | None:
    return QUICK_ROWS if options.quick else LARGE_ROWS.get(name)


def _draws(options: Options) -> tuple[int, ...]:
    return tuple(range(options.accuracy_draws))


def _friedman(number: int, draw: int) -> Case:
    return Case(*noisy_friedman(number, draw))


def _friedman_twice(draw: int) -> Case:
    return Case(*noisy_friedman_twice(draw))


def _sinc(noise: Literal["none", "gaussian", "uniform"], draw: int) -> Case:
    return Case(*noisy_sinc(noise, draw))


def _noise(draw: int) -> Case:
    X, t = pure_noise(draw, seed=ACCURACY_SEED)
    fresh = np.random.default_rng((ACCURACY_SEED, draw, len(t))).normal(size=len(t))
    return Case(Split(X, t, X, fresh), np.zeros_like(t))


def _real(folder: DataFolder, name: str, maximum: int | None, number: int) -> Case:
    split = folder.uci(name, number) if name in UCI else folder.published(name, number)
    return Case(split if maximum is None else some_rows(split, maximum, number))


def _ripley(folder: DataFolder, number: int) -> Case:
    return Case(folder.ripley())


def _ripley_100(folder: DataFolder, draw: int) -> Case:
    return Case(some_rows(folder.ripley(), 100, draw))


def _pima(folder: DataFolder, number: int) -> Case:
    return Case(folder.pima())


def _ida(folder: DataFolder, name: str, number: int) -> Case:
    return Case(folder.ida(name, number))


def _dealt(folder: DataFolder, name: str, fold: int) -> Case:
    return Case(folder.dealt(name, fold))


def _letter(folder: DataFolder, rows: int | None, number: int) -> Case:
    assert rows is not None
    return Case(folder.letter(rows, np.random.default_rng((ACCURACY_SEED, number))))
