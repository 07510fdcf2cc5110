"""The summary of the figures of all tables for each engine."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, median, stdev

from benchmarks.repeats import Figures

Splits = Mapping[int, Figures]
"""The figures of one engine on one table, by the number of the split."""

Measured = Mapping[str, Mapping[str, Splits]]
"""The same by table and engine."""

CLOSE_RMSE = 1.05
"""Times the reference's RMSE up to which a table counts as close."""

CERTAIN = 2.0
"""Paired standard errors beyond which a table on which an engine is worse counts as lost."""

CLOSE_COVERAGE = 0.93, 0.97
"""Shares of the targets inside their 95 % intervals that count as right, as does one that chance explains."""

ROWS_FOR_CALIBRATION = 1_000
"""The minimum number of test rows for a calibration error."""

WORSE_NLL = 0.03
"""Nats a row above the reference from which on a table counts as worse."""

CLOSE_LOG_LOSS = 1.2
"""Times the best peer's log loss up to which a table counts as close."""


@dataclass(frozen=True)
class Ranking:
    """The rank of an engine by one figure of which less is better; 1 is the best."""

    mean_rank: float
    wins: float
    normalised: float


def mean(splits: Splits, figure: str) -> float | None:
    """The mean over the splits; None where there are none or the engine has no such figure."""
    values = [one[figure] for one in splits.values() if figure in one]
    return fmean(values) if values and len(values) == len(splits) else None


def paired(one: Splits, other: Splits, figure: str) -> list[tuple[float, float]]:
    """A figure of two engines on the splits that both have."""
    return [
        (one[number][figure], other[number][figure])
        for number in sorted(one.keys() & other.keys())
        if figure in one[number] and figure in other[number]
    ]


def ratio(one: Splits, other: Splits, figure: str) -> float | None:
    """The geometric mean over the splits of one engine's figure to another's."""
    pairs = paired(one, other, figure)
    return exp(fmean(log(mine / theirs) for mine, theirs in pairs)) if pairs else None


def difference(one: Splits, other: Splits, figure: str) -> float | None:
    """The mean over the splits of one engine's figure less another's."""
    pairs = paired(one, other, figure)
    return fmean(mine - theirs for mine, theirs in pairs) if pairs else None


def rankings(measured: Measured, figure: str) -> dict[str, Ranking]:
    """Ranks, shares of wins, and 1 for the best to 0 for the worst engine of a table, in the mean over the tables.

    Only tables count on which every engine that has the figure anywhere has it; a draw is shared.
    """
    names = _having(measured, figure)
    rows = []
    for engines in measured.values():
        row = {name: mean(engines.get(name, {}), figure) for name in names}
        present = {name: value for name, value in row.items() if value is not None}
        if len(present) == len(names) and names:
            rows.append(present)
    return {
        name: Ranking(
            fmean(_rank(row, name) for row in rows),
            fmean(_win(row, name) for row in rows),
            fmean(_normalised(row, name) for row in rows),
        )
        for name in names
        if rows
    }


def regression_summary(measured: Measured, *, ours: str, reference: str) -> dict[str, dict[str, float]]:
    """RMSE and NLL of each engine beside the reference's, and the coverage of all targets together."""
    ranks, scores = rankings(measured, "rmse"), rankings(measured, "nll")
    found: dict[str, dict[str, float]] = {}
    for name in _having(measured, "rmse"):
        ratios = _of_tables(measured, name, reference, "rmse", ratio)
        gaps = _of_tables(measured, name, reference, "nll", difference)
        row = {"tables": float(len(ratios)), "missing": missing(measured, name)}
        if ratios:
            row |= {"rmse_ratio": exp(fmean(map(log, ratios))), "rmse_worst": max(ratios)}
            row["rmse_close"] = fmean(value <= CLOSE_RMSE for value in ratios)
            row["rmse_lost"] = _lost_tables(measured, name, reference)
        if gaps:
            row |= {"nll_median": median(gaps), "nll_worse": fmean(gap > WORSE_NLL for gap in gaps)}
        covered = coverage(engines.get(name, {}) for engines in measured.values())
        row |= {} if covered is None else {"coverage": covered, "covered": _covered_tables(measured, name)}
        row |= _cost(measured, ours, name)
        found[name] = row | _agreement(measured, name, "nll") | _ranking(ranks, scores, name)
    return found


def class_summary(measured: Measured, *, ours: str, reference: str) -> dict[str, dict[str, float]]:
    """Log loss, error and calibration of each engine in the mean, and beside the best peer and the reference."""
    ranks = rankings(measured, "log_loss")
    found: dict[str, dict[str, float]] = {}
    for name in _having(measured, "log_loss"):
        tables = [engines[name] for engines in measured.values() if engines.get(name)]
        row = {"tables": float(len(tables)), "missing": missing(measured, name)}
        for figure in ("log_loss", "error", "ece"):
            values = [value for splits in tables if (value := mean(splits, figure)) is not None]
            row[figure] = fmean(values)
        close = [value for engines in measured.values() if (value := to_best(engines, name, ours=ours)) is not None]
        gaps = _of_tables(measured, name, reference, "log_loss", difference)
        row |= {"close_to_best": fmean(value <= CLOSE_LOG_LOSS for value in close)} if close else {}
        row |= {"worst_behind": max(gaps)} if gaps else {}
        large = [
            value
            for splits in tables
            if (value := mean(splits, "ece")) is not None
            and all(one["measured"] >= ROWS_FOR_CALIBRATION for one in splits.values())
        ]
        row |= {"ece_large": fmean(large), "ece_large_worst": max(large)} if large else {}
        row |= _cost(measured, ours, name)
        found[name] = row | _agreement(measured, name, "log_loss") | _ranking(ranks, ranks, name)
    return found


def missing(measured: Measured, name: str) -> float:
    """The number of splits for which another engine has a figure and this one has none."""
    numbers = {(table, number) for table, engines in measured.items() for one in engines.values() for number in one}
    own = {(table, number) for table, engines in measured.items() for number in engines.get(name, {})}
    return float(len(numbers - own))


def to_best(engines: Mapping[str, Splits], name: str, *, ours: str) -> float | None:
    """An engine's log loss to that of the best peer on one table, itself not counted."""
    own = mean(engines.get(name, {}), "log_loss")
    peers = [
        value
        for other, splits in engines.items()
        if other not in {name, ours} and (value := mean(splits, "log_loss")) is not None
    ]
    return own / min(peers) if own is not None and peers else None


def coverage(of_tables: Iterable[Splits]) -> float | None:
    """The share of all targets of all tables inside their 95 % intervals."""
    rows = [one for splits in of_tables for one in splits.values() if "inside" in one]
    return sum(one["inside"] for one in rows) / sum(one["measured"] for one in rows) if rows else None


def agrees(one: Figures, loss: str) -> bool:
    """Return true where the loss by folds is that of the rows measured on within two standard errors."""
    error = sqrt(one[f"by_folds_{loss}_se"] ** 2 + one[f"{loss}_se"] ** 2)
    return abs(one[f"by_folds_{loss}"] - one[loss]) <= CERTAIN * error


def agrees_in_coverage(one: Figures) -> bool:
    """Return true where the coverage by folds is that of the rows measured on within two binomial standard errors."""
    by_folds, rows, measured = one["by_folds_coverage_95"], one["by_folds_rows"], one["measured"]
    share = (by_folds * rows + one["inside"]) / (rows + measured)
    error = sqrt(share * (1.0 - share) * (1.0 / rows + 1.0 / measured))
    return abs(by_folds - one["inside"] / measured) <= CERTAIN * error


def is_covered(splits: Splits) -> bool:
    """Return true where the splits' targets together are inside their intervals as often as promised."""
    share, rows = coverage([splits]), sum(one["measured"] for one in splits.values())
    assert share is not None
    minimum, maximum = CLOSE_COVERAGE
    return minimum <= share <= maximum or abs(share - 0.95) <= CERTAIN * sqrt(0.95 * 0.05 / rows)


def is_lost(one: Splits, other: Splits) -> bool:
    """Return true where the RMSE is above 1.05 times another engine's, and above it by two paired standard errors."""
    logarithms = [log(mine / theirs) for mine, theirs in paired(one, other, "rmse")]
    error = stdev(logarithms) / sqrt(len(logarithms)) if len(logarithms) > 1 else 0.0
    return fmean(logarithms) > max(log(CLOSE_RMSE), CERTAIN * error)


def _agreement(measured: Measured, name: str, loss: str) -> dict[str, float]:
    """The shares of all splits on which an engine's figures by folds agree with those of the rows measured on."""
    splits = [one for engines in measured.values() for one in engines.get(name, {}).values()]
    scored = [agrees(one, loss) for one in splits if f"by_folds_{loss}" in one]
    covered = [agrees_in_coverage(one) for one in splits if "by_folds_coverage_95" in one]
    found = {"score_agrees": fmean(scored)} if scored else {}
    return found | ({"coverage_agrees": fmean(covered)} if covered else {})


def _lost_tables(measured: Measured, name: str, reference: str) -> float:
    pairs = [(engines.get(name, {}), engines.get(reference, {})) for engines in measured.values()]
    return fmean(is_lost(one, other) for one, other in pairs if paired(one, other, "rmse"))


def _covered_tables(measured: Measured, name: str) -> float:
    tables = [engines.get(name, {}) for engines in measured.values()]
    return fmean(is_covered(splits) for splits in tables if splits)


def _cost(measured: Measured, ours: str, name: str) -> dict[str, float]:
    """The geometric mean over tables of our CPU time to learn to that of an engine."""
    ratios = _of_tables(measured, ours, name, "seconds", ratio)
    return {"cpu_ratio": exp(fmean(map(log, ratios)))} if ratios else {}


def _ranking(ranks: Mapping[str, Ranking], scores: Mapping[str, Ranking], name: str) -> dict[str, float]:
    row = {"mean_rank": ranks[name].mean_rank, "wins": ranks[name].wins} if name in ranks else {}
    return row | ({"normalised_score": scores[name].normalised} if name in scores else {})


def _of_tables(
    measured: Measured,
    name: str,
    reference: str,
    figure: str,
    compare: Callable[[Splits, Splits, str], float | None],
) -> list[float]:
    compared = (compare(engines.get(name, {}), engines.get(reference, {}), figure) for engines in measured.values())
    return [value for value in compared if value is not None]


def _having(measured: Measured, figure: str) -> list[str]:
    names = dict.fromkeys(name for engines in measured.values() for name in engines)
    return [
        name for name in names if any(mean(engines.get(name, {}), figure) is not None for engines in measured.values())
    ]


def _rank(row: Mapping[str, float], name: str) -> float:
    better = sum(value < row[name] for value in row.values())
    equal = sum(value == row[name] for value in row.values())
    return better + (equal + 1) / 2


def _win(row: Mapping[str, float], name: str) -> float:
    minimum = min(row.values())
    return (row[name] == minimum) / sum(value == minimum for value in row.values())


def _normalised(row: Mapping[str, float], name: str) -> float:
    minimum, maximum = min(row.values()), max(row.values())
    return (maximum - row[name]) / (maximum - minimum) if maximum > minimum else 1.0
