"""(c) Two classes: Ripley's data as the papers took them, and the papers' real sets by defaults."""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.files import DataFolder, NotRun, Split
from benchmarks.generators import ripley_best, ripley_split, subset_of
from benchmarks.learning import RAW_HALF, classification
from benchmarks.options import Options
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table

HEADER = ("set", "draws", "ours: error %", "log loss", "vectors", "RVM 2001 %", "vectors", "SVM 2001 %", "vectors")
NONE = ("", "", "", "")


PaperSet = tuple[str, Callable[[], Split], Callable[[int], Figures], int, tuple[str, ...]]
"""Name, its first split (which tells whether it is here), a draw's figures, how many draws, the papers' figures."""


def real(options: Options) -> list[Table]:
    """Sets of the papers; each whose file is absent is reported so."""
    rows, absent = [], []
    for name, first, measure, draws, papers in _sets(options):
        try:
            first()
        except NotRun as reason:
            absent.append(f"{name}: NOT RUN: {reason}.")
        else:
            rows.append(_row(name, repeated(measure, draws, processes=options.processes), papers))
    explained = "Vectors don't count the bias. Raw inputs where r is given; else standardised, width by 5-fold CV."
    return [Table("Two classes", HEADER, tuple(rows), (explained, *absent))]


def _sets(options: Options) -> list[PaperSet]:
    folder, splits = options.data, options.splits
    ida: list[tuple[str, tuple[str, ...]]] = [
        ("banana", ("10.8", "11.4", "10.9", "135.2")),
        ("titanic", ("23.0", "65.3", "22.1", "93.7")),
        ("breast_cancer", ("29.9", "6.3", "26.9", "116.7")),
    ]
    hundred, pima = ("9.3", "4", "10.6", "38"), ("19.6 (65 of 332)", "4", "20.2 (67)", "109")
    return [
        ("Ripley, 100 of 250, r = 0.5", folder.ripley, partial(_ripley_100, folder), options.repeats, hundred),
        ("Ripley, all 250, r = 0.5", folder.ripley, partial(_ripley_raw, folder), 1, NONE),
        ("Ripley, all 250, defaults", folder.ripley, partial(_ripley, folder), 1, NONE),
        ("Pima, defaults", folder.pima, partial(_pima, folder), 1, pima),
        *(
            (f"{name}, defaults", partial(folder.ida, name, 0), partial(_ida, folder, name), splits, papers)
            for name, papers in ida
        ),
    ]


def mixture(options: Options) -> list[Table]:
    """Ripley's mixture drawn anew, where the best error that is possible is known."""
    measured = repeated(_mixture, options.repeats, processes=options.processes)
    best = f"{100.0 * mean(measured, 'best'):.2f}"
    row = ("250 rows, r = 0.5", str(len(measured)), *_figures(measured), best)
    header = (*HEADER[:5], "Bayes' rule: error %")
    return [Table("Ripley's mixture, drawn anew", header, (row,), ("10,000 rows are measured on in each draw.",))]


def _row(name: str, measured: list[Figures], papers: tuple[str, ...]) -> tuple[str, ...]:
    return (name, str(len(measured)), *_figures(measured), *papers)


def _figures(measured: list[Figures]) -> tuple[str, ...]:
    error = with_error(measured, "error", times=100.0, digits=2)
    return error, with_error(measured, "log_loss", digits=4), with_error(measured, "vectors", digits=1)


def _ripley_100(folder: DataFolder, draw: int) -> Figures:
    return classification(subset_of(folder.ripley(), 100, draw), RAW_HALF)


def _ripley_raw(folder: DataFolder, draw: int) -> Figures:
    return classification(folder.ripley(), RAW_HALF)


def _ripley(folder: DataFolder, draw: int) -> Figures:
    return classification(folder.ripley())


def _pima(folder: DataFolder, draw: int) -> Figures:
    return classification(folder.pima())


def _ida(folder: DataFolder, name: str, split: int) -> Figures:
    return classification(folder.ida(name, split))


def _mixture(draw: int) -> Figures:
    split = ripley_split(draw)
    best = float(np.mean(ripley_best(split.X_test) != split.t_test))
    return classification(split, RAW_HALF) | {"best": best}
