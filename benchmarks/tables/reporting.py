"""The figures of tables and engines as Markdown."""

from collections.abc import Mapping, Sequence

from benchmarks.accuracy.measuring import NOTHING
from benchmarks.report import Table
from benchmarks.tables.catalogue import Task
from benchmarks.tables.engines import LOGISTIC, OURS, PROCESS, engines
from benchmarks.tables.summary import Measured, Splits, coverage, difference, mean, ratio, to_best

REGRESSION_FIGURES = {
    "tables": "tables",
    "missing": "missing splits",
    "rmse_ratio": "RMSE / GP's",
    "rmse_worst": "worst",
    "rmse_close": "share <= 1.05",
    "rmse_lost": "share lost",
    "nll_median": "NLL - GP's, median",
    "nll_worse": "share worse by > .03",
    "coverage": "inside 95 %",
    "covered": "share of tables covered",
    "score_agrees": "score by folds agrees",
    "coverage_agrees": "coverage by folds agrees",
    "mean_rank": "mean rank, RMSE",
    "wins": "wins",
    "cpu_ratio": "CPU, ours / its",
    "normalised_score": "log score, 0 to 1",
}
CLASS_FIGURES = {
    "tables": "tables",
    "missing": "missing splits",
    "log_loss": "log loss",
    "error": "error",
    "ece": "ECE",
    "ece_large": "ECE, 1,000 rows",
    "ece_large_worst": "worst",
    "close_to_best": "share <= 1.2 x best peer",
    "worst_behind": "worst behind logistic",
    "score_agrees": "score by folds agrees",
    "mean_rank": "mean rank",
    "wins": "wins",
    "cpu_ratio": "CPU, ours / its",
    "normalised_score": "log score, 0 to 1",
}
NOTES = (
    (
        "Wins: the share of tables on which the engine is best. Log score: 1 for a table's best engine, 0 for its "
        "worst, by NLL (of engines that give a distribution) or log loss. Inside 95 %: the targets of all tables. "
        "CPU: to learn, any search counted; the geometric mean over tables."
    ),
    (
        "Lost: RMSE above 1.05 x the GP's and above it by two paired standard errors. A table is covered where 93 to "
        "97 % of the targets of its splits are inside, or 95 % within two binomial standard errors. Agrees: the share "
        "of all splits whose figure by folds is within two standard errors of that of the rows measured on."
    ),
)
REGRESSION_HEADER = ("RMSE", "to truth", "/ GP's", "NLL", "- GP's", "inside 95 %")
CLASS_HEADER = ("log loss", "above least", "/ best peer", "- logistic", "error", "ECE")


def overall(task: Task, summary: Mapping[str, Mapping[str, float]], title: str, *, splits: int) -> Table:
    """One row an engine, all tables and their `splits` together."""
    columns = REGRESSION_FIGURES if task == "regression" else CLASS_FIGURES
    rows = tuple((name, *(_cell(row, figure) for figure in columns)) for name, row in summary.items())
    return Table(f"{title}: {task}", ("engine", *columns.values()), rows, (_rows_note(splits), *NOTES))


def _rows_note(splits: int) -> str:
    return (
        f"Splits of each table: {splits}, a fifth measured on; at most 600 rows for training and 1,000 for testing. "
        "RMSE / GP's: the geometric mean over splits, then tables. NLL and log loss in nats a row."
    )


def each(of_task: Measured, task: Task, title: str) -> Table:
    """One row a table: ours beside the reference, and the main figure of the other engines."""
    others = [engine.name for engine in engines(task) if engine.name != OURS]
    header = ("table", *(REGRESSION_HEADER if task == "regression" else CLASS_HEADER), *others, "CPU s")
    line = _regression_line if task == "regression" else _class_line
    rows = tuple((name, *line(of_table, others)) for name, of_table in of_task.items())
    figure = "their RMSE / ours" if task == "regression" else "their log loss"
    notes = (f"First ours; under the names of the other engines {figure}. CPU s: ours, one fit.",)
    return Table(f"{title}: {task}, each", header, rows, notes)


def _regression_line(of_table: Mapping[str, Splits], others: Sequence[str]) -> tuple[str, ...]:
    own, process = of_table.get(OURS, {}), of_table.get(PROCESS, {})
    return (
        _number(mean(own, "rmse")),
        _number(mean(own, "truth_rmse")),
        _number(ratio(own, process, "rmse")),
        _number(mean(own, "nll")),
        _number(difference(own, process, "nll")),
        _number(coverage([own])),
        *(_number(ratio(of_table.get(name, {}), own, "rmse")) for name in others),
        _number(mean(own, "seconds")),
    )


def _class_line(of_table: Mapping[str, Splits], others: Sequence[str]) -> tuple[str, ...]:
    own, logistic = of_table.get(OURS, {}), of_table.get(LOGISTIC, {})
    return (
        _number(mean(own, "log_loss")),
        _number(mean(own, "excess")),
        _number(to_best(of_table, OURS, ours=OURS)),
        _number(difference(own, logistic, "log_loss")),
        _number(mean(own, "error")),
        _number(mean(own, "ece")),
        *(_number(mean(of_table.get(name, {}), "log_loss")) for name in others),
        _number(mean(own, "seconds")),
    )


def _cell(row: Mapping[str, float], figure: str) -> str:
    if figure not in row:
        return NOTHING
    return f"{row[figure]:.0f}" if figure in {"tables", "missing"} else _number(row[figure])


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}" if abs(value) < 100.0 else f"{value:,.1f}"
