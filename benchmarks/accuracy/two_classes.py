"""Two classes: log loss, error and calibration, a table for each figure, with the mean of all sets."""

from dataclasses import dataclass
from functools import partial

from benchmarks.accuracy.cases import two_classes
from benchmarks.accuracy.class_peers import process_engine, support_engine
from benchmarks.accuracy.measuring import NOTHING, Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import classifier
from benchmarks.accuracy.scoring import class_figures
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.core.priors import Independent


@dataclass(frozen=True)
class Figure:
    """A figure that has its own table; `digits` of the mean of all sets, and of every set where `rough`."""

    name: str
    title: str
    digits: int
    note: str
    times: float = 1.0
    rough: bool = False


FIGURES = (
    Figure("log_loss", "log loss", 4, "Nats; means over the splits ± their standard errors."),
    Figure("error", "error %", 2, "SVC: labels by its own sign, not by Platt's probabilities.", times=100.0),
    Figure(
        "ece",
        "calibration error (ECE)",
        4,
        "Ten bins of class 1's probability, of equal width; where few rows are measured on (breast cancer 77, wdbc 57) "
        "some of it is chance.",
    ),
    Figure("functions", "functions in the model", 1, "Bias and support vectors counted.", rough=True),
    Figure("seconds", "CPU seconds", 2, "Any search counted, one thread.", rough=True),
)

NOTES = (
    (
        "Ripley and Pima by their one division, 100 of Ripley's 250 rows drawn by a named seed, the first 10 official "
        "splits of banana, titanic and breast cancer, 10 folds of wdbc."
    ),
    (
        "Ours: what a job gets that names only its data and its target. RVM: our independent prior, width by 5-fold "
        "CV. SVC: C and gamma by 5-fold CV, Platt's sigmoid on left-out predictions. GP: scikit-learn, Laplace's "
        "approximation, a length for each input (wdbc: one)."
    ),
)


def beside_peers(options: Options) -> list[Table]:
    """Defaults against the plain RVM, a tuned SVC and a Gaussian process."""
    engines = (
        Engine("ours", partial(class_figures, classifier)),
        Engine("RVM", partial(class_figures, partial(classifier, prior=Independent()))),
        support_engine(),
        process_engine(),
    )
    sets = two_classes(options)
    found = {data.name: [measured(engine, data, options) for engine in engines] for data in sets}
    header = ("set", "splits", *(engine.name for engine in engines))
    last = (*NOTES, *not_run([one for of_all in found.values() for one in of_all]))
    tables = []
    for figure in FIGURES:
        digits = figure.digits if figure.rough else None
        rows = [
            (
                data.name,
                str(len(data.numbers)),
                *(one.cell(figure.name, times=figure.times, digits=digits) for one in found[data.name]),
            )
            for data in sets
        ]
        rows.append(("mean of the sets", "", *_means(list(found.values()), figure)))
        notes = (figure.note, *(last if figure is FIGURES[-1] else ()))
        tables.append(Table(f"Two classes: {figure.title}", header, tuple(rows), notes))
    return tables


def _means(found: list[list[Measured]], figure: Figure) -> list[str]:
    """One for each engine, over all sets; only where it was measured on all of them."""
    cells = []
    for of_engine in zip(*found, strict=True):
        means = [one.mean(figure.name) for one in of_engine]
        known = [value for value in means if value is not None]
        average = figure.times * sum(known) / max(len(known), 1)
        cells.append(f"{average:.{figure.digits}f}" if len(known) == len(means) else NOTHING)
    return cells
