"""The tables `papers`: errors and vectors on every set of theirs, with the normalised means of [TIPPING2001, 4.4]."""

from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Literal

from benchmarks.files import NotRun
from benchmarks.options import Options
from benchmarks.papers.letter import one_against_rest
from benchmarks.papers.machines import MACHINES, Machine, figures
from benchmarks.papers.sets import PaperSet, classification, regression
from benchmarks.remembered import Remembered
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table

HEADER = ("set", "draws", "SVM, papers", "RVM, papers", *(f"ours, {machine}" for machine in MACHINES))

NONE = "–"

MACHINES_NOTE = (
    "Re-estimation and sequential: independent weights, no price, one width for all inputs by 5-fold CV unless the set "
    "states otherwise, noise learned; the papers' figures were made with re-estimation. Defaults: a job that specifies "
    "only its data and its target. Inputs are standardised, but not where r is given. Vectors are functions that "
    "are centred on rows: neither bias nor inputs, though the papers' 8 for the sum of a curve and a line count these."
)

MEANS_NOTE = (
    "Means over the draws ± their standard errors. Normalised mean, as in [TIPPING2001, section 4.4]: each figure over "
    "that of the papers' SVM, averaged over the sets above it."
)

REGRESSION_NOTE = (
    "Squared errors to the true function unless RMSE is stated. The noise of Friedman 2 and 3 has a third of the "
    "signal's variance, from which the papers' tables seem to be made. The line of sinc(x_1) + 0.1 x_2 is a root mean "
    "square by the paper's words; 8 weights learned from 100 such rows have a square of .0008, .028 its root: squares "
    "are compared. Boston: NOT RUN: its rows are not in the folder of data."
)

CLASSES_NOTE = (
    "Waveform is drawn from its generator, all others are the official splits. Titanic has 11 distinct rows, of which "
    "re-estimation keeps copies. Ripley: rows drawn by a named seed, 1,000 measured on; the 200 replace a mixture "
    "that [TIPPING1999, section 5.1] does not give in numbers."
)


Figure = Literal["error", "vectors"]


@dataclass(frozen=True)
class Found:
    """The figures of each machine on a set, in order of the draws."""

    of: PaperSet
    by_machine: dict[Machine, list[Figures]]


def papers(options: Options) -> list[Table]:
    """Regression, two classes, and one class against the rest."""
    return [
        *_tables("Regression", regression(options), (REGRESSION_NOTE, MACHINES_NOTE, MEANS_NOTE), options),
        *_tables("Two classes", classification(options), (CLASSES_NOTE,), options),
        one_against_rest(options),
    ]


def _tables(title: str, sets: list[PaperSet], notes: tuple[str, ...], options: Options) -> list[Table]:
    found, absent = [], []
    for paper_set in sets:
        try:
            found.append(_found(paper_set, options))
        except NotRun as reason:
            absent.append(f"{paper_set.name}: NOT RUN: {reason}.")
    return [
        _table(f"{title}: error", "error", found, ()),
        _table(f"{title}: vectors", "vectors", found, (*notes, *absent)),
    ]


def _found(paper_set: PaperSet, options: Options) -> Found:
    paper_set.split(0)
    return Found(
        paper_set,
        {
            machine: repeated(measured(paper_set, machine, options), paper_set.draws, processes=options.processes)
            for machine in MACHINES
        },
    )


def measured(paper_set: PaperSet, machine: Machine, options: Options) -> Remembered:
    """A machine's figures of each draw of a set, as far as they are remembered from there."""
    return Remembered(partial(figures, paper_set, machine), (paper_set.name, machine), options.draws_file)


def _table(title: str, figure: Figure, found: list[Found], notes: tuple[str, ...]) -> Table:
    averaged = [one for one in found if one.of.averaged]
    beside = [one for one in found if not one.of.averaged]
    rows = [*(_row(one, figure) for one in averaged), _means(averaged, figure), *(_row(one, figure) for one in beside)]
    return Table(title, HEADER, tuple(rows), notes)


def _row(found: Found, figure: Figure) -> tuple[str, ...]:
    of = found.of
    times, digits = (of.times, of.digits) if figure == "error" else (1.0, 1)
    printed = (NONE if value is None else f"{value:.{digits}f}" for value in _printed(of, figure))
    ours = (with_error(found.by_machine[machine], figure, times=times, digits=digits) for machine in MACHINES)
    return (of.name, str(len(found.by_machine[MACHINES[0]])), *printed, *ours)


def _printed(of: PaperSet, figure: Figure) -> tuple[float | None, float | None]:
    """The SVM's and the RVM's."""
    match figure:
        case "error":
            return of.svm.error, of.rvm.error
        case "vectors":
            return of.svm.vectors, of.rvm.vectors


def _means(found: list[Found], figure: Figure) -> tuple[str, ...]:
    """Over the SVM's, the mean of all sets."""
    ratios: list[list[float]] = []
    for one in found:
        svm, rvm = _printed(one.of, figure)
        assert svm is not None
        assert rvm is not None
        times = one.of.times if figure == "error" else 1.0
        ours = (times * mean(one.by_machine[machine], figure) for machine in MACHINES)
        ratios.append([value / svm for value in (svm, rvm, *ours)])
    means = (f"{fmean(column):.3f}" for column in zip(*ratios, strict=True))
    return ("normalised mean", "", *(means if ratios else (NONE,) * (len(HEADER) - 2)))
