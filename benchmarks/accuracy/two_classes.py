"""Two classes: log loss, error and calibration, a table for each figure, with the mean of all sets."""

from functools import partial

from app.sparse_bayes.priors import Independent
from benchmarks.accuracy.cases import two_classes
from benchmarks.accuracy.class_peers import process_engine, support_engine
from benchmarks.accuracy.measuring import NOTHING, Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import classifier
from benchmarks.accuracy.scoring import class_figures
from benchmarks.options import Options
from benchmarks.report import Table

FIGURES = (
    ("log loss", "log_loss", 1.0, 4),
    ("error %", "error", 100.0, 2),
    ("calibration error (ECE)", "ece", 1.0, 4),
    ("functions", "functions", 1.0, 1),
    ("CPU seconds", "seconds", 1.0, 2),
)
"""Title, name, times, and digits of the mean of all sets."""

NOTES = (
    (
        "Ripley and Pima by their one division, 100 of Ripley's 250 rows drawn by a named seed, the first 10 official "
        "splits of banana, titanic and breast cancer, 10 folds of wdbc."
    ),
    (
        "Ours: what a job gets that names only its data and its target. RVM: our independent prior, width by 5-fold "
        "CV. SVC: C and gamma by 5-fold CV, Platt's sigmoid on left-out predictions, labels by its own sign. GP: "
        "scikit-learn, Laplace's approximation, a length for each input (wdbc: one)."
    ),
    (
        "Log loss in nats. ECE: ten bins of class 1's probability, of equal width; a set measured on few rows (breast "
        "cancer 77, wdbc 57) has some by chance alone."
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
    notes = (*NOTES, *not_run([one for of_all in found.values() for one in of_all]))
    header = ("set", "splits", *(engine.name for engine in engines))
    tables = []
    for title, name, times, digits in FIGURES:
        rows = [
            (data.name, str(len(data.numbers)), *(one.cell(name, times=times) for one in found[data.name]))
            for data in sets
        ]
        rows.append(("mean of the sets", "", *_means(list(found.values()), name, times, digits)))
        tables.append(Table(f"Two classes: {title}", header, tuple(rows)))
    last = tables[-1]
    return [*tables[:-1], Table(last.title, last.header, last.rows, notes)]


def _means(found: list[list[Measured]], name: str, times: float, digits: int) -> list[str]:
    """One for each engine, over all sets; only where it was measured on all of them."""
    cells = []
    for of_engine in zip(*found, strict=True):
        means = [one.mean(name) for one in of_engine]
        known = [value for value in means if value is not None]
        cells.append(f"{times * sum(known) / len(known):.{digits}f}" if len(known) == len(means) else NOTHING)
    return cells
