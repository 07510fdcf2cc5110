"""More than two classes: vehicle and letter."""

from functools import partial

from benchmarks.accuracy.cases import many_classes
from benchmarks.accuracy.class_peers import support_engine
from benchmarks.accuracy.measuring import Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import classifier
from benchmarks.accuracy.scoring import class_figures
from benchmarks.options import Options
from benchmarks.report import Table

HEADER = ("set", "engine", "N", "log loss", "error %", "ECE", "functions", "CPU s")
NOTES = (
    (
        "vehicle: 4 classes, 10 folds. letter: 26 classes, 5,000 rows to learn from, 15,000 measured on. Log loss in "
        "nats; ECE of the most probable class, ten bins of equal width."
    ),
    "SVC: C and gamma by 5-fold CV, one sigmoid for each class (Platt), labels by its own vote.",
)

QUICK_NOTE = ("Quick: two folds of vehicle, 600 rows of letter.",)


def beside_peers(options: Options) -> list[Table]:
    """Defaults against a tuned SVC."""
    engines = (Engine("ours", partial(class_figures, classifier)), support_engine())
    found = [measured(engine, data, options) for data in many_classes(options) for engine in engines]
    rows = tuple(_row(one) for one in found if not one.absent)
    return [
        Table("More than two classes", HEADER, rows, (*NOTES, *(QUICK_NOTE if options.quick else ()), *not_run(found)))
    ]


def _row(one: Measured) -> tuple[str, ...]:
    return (
        one.data,
        one.engine,
        one.cell("rows", digits=0),
        one.cell("log_loss"),
        one.cell("error", times=100.0),
        one.cell("ece"),
        one.cell("functions", digits=1),
        one.cell("seconds", digits=1),
    )
