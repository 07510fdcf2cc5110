"""Golden trainings: what small trainings predict, choose and cost, beside the stored figures of another state.

`python -m benchmarks.goldens --store NAME` keeps the figures of the `relevance_bayes` that is imported, which may be
another checkout's by `PYTHONPATH`; `--compare BEFORE AFTER` prints the table of two stores.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TypedDict

import numpy as np
from pydantic import TypeAdapter

from benchmarks.files import NotRun
from benchmarks.golden_trainings import GOLDENS, NEW_ROWS, TARGET, Golden
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.estimators.fitting import FittedSupervised, learn
from relevance_bayes.records.json import encode
from relevance_bayes.records.predictions import DecisionOptions
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.report import Member, SupervisedReport

STORE = Path(__file__).with_name("goldens.json")

POINTS = 12
"""The first new rows, whose predictions are kept."""

QUICK = 5
"""Trainings of `--quick`, the first ones."""

DIGITS = 6
"""Significant digits of predictions that are kept."""

DECIMALS = 5
"""Decimals of scores and errors."""

MIN_PROBABILITY = 1e-12
"""The bound of probabilities in the log loss."""

BEFORE, AFTER = "before", "after"

MAX_DIFFERENCE = 0.1
"""In predictive standard deviations, or a tenth of it in probabilities: what differs by more has a reason."""


@dataclass(frozen=True)
class Figures:
    """The result of one training.

    `predictions` are the means of POINTS new rows in the target's units, or the probabilities of their K classes, row
    after row (POINTS K,); `sds` (POINTS,) belong to means. `error` is the root mean square error of all new rows, or
    their log loss in nats. `choice` is of likelihood, prior and the kernels, whose members have the `weights`.
    """

    seconds: float
    choice: str
    weights: tuple[float, ...]
    functions: int
    score: float | None
    standard_error: float | None
    error: float
    warnings: tuple[str, ...]
    predictions: tuple[float, ...]
    sds: tuple[float, ...]
    decisions: tuple[int, ...]

    @property
    def described(self) -> str:
        """Return the choice, with the weights in per cent where there are several members."""
        weights = " : ".join(f"{100.0 * weight:.0f}" for weight in self.weights)
        return f"{self.choice} ({weights} %)" if len(self.weights) > 1 else self.choice


_STORES: TypeAdapter[dict[str, dict[str, Figures]]] = TypeAdapter(dict[str, dict[str, Figures]])


def goldens(options: Options) -> list[Table]:
    """Measure the trainings, or those of `--tables`, and compare them with the stored figures of before."""
    stored = stores().get(BEFORE)
    if stored is None:
        raise NotRun(f"{STORE.name} has no figures of {BEFORE!r}")
    return [compared(stored, measured(options.tables, quick=options.quick))]


def measured(names: Sequence[str] = (), *, quick: bool = False) -> dict[str, Figures]:
    """Return the figures of the trainings of these names, of all where there is none."""
    unknown = set(names) - {golden.name for golden in GOLDENS}
    if unknown:
        raise NotRun(f"there is no training {', '.join(sorted(unknown))}")
    chosen = [golden for golden in GOLDENS if not names or golden.name in names]
    return {golden.name: figures(golden) for golden in (chosen[:QUICK] if quick else chosen)}


def figures(golden: Golden) -> Figures:
    """Train and predict."""
    training, new = golden.blocks()
    start = process_time()
    version = FittedSupervised.of(*learn(training, {"target": TARGET, **golden.options}))
    seconds = process_time() - start
    report = version.exported.report
    deciding = None if golden.costs is None else DecisionOptions(costs=golden.costs)
    inputs = {column.name: new[column.name] for column in report.plan.inputs}
    predicted = version.model.predict(inputs, PredictOptions(deciding=deciding))
    assert isinstance(predicted, RegressionPrediction | ClassificationPrediction)
    score, members = report.score, _ordered(report)
    return Figures(
        seconds=round(seconds, 2),
        choice=_choice(report),
        weights=_rounded([member.weight for member in members if member.weight is not None]),
        functions=report.functions,
        score=None if score is None or score.value is None else round(score.value, DECIMALS),
        standard_error=None if score is None or score.standard_error is None else round(score.standard_error, DECIMALS),
        error=round(_error(predicted, new), DECIMALS),
        warnings=tuple(sorted({one.kind for one in report.warnings})),
        **_points(predicted.some(slice(0, POINTS))),
    )


class _Points(TypedDict):
    predictions: tuple[float, ...]
    sds: tuple[float, ...]
    decisions: tuple[int, ...]


def _points(predicted: RegressionPrediction | ClassificationPrediction) -> _Points:
    if isinstance(predicted, RegressionPrediction):
        return {"predictions": _rounded(predicted.mean), "sds": _rounded(predicted.sd), "decisions": ()}
    decisions = () if predicted.decisions is None else tuple(predicted.decisions.chosen.tolist())
    return {"predictions": _rounded(predicted.probabilities.ravel()), "sds": (), "decisions": decisions}


def _error(predicted: RegressionPrediction | ClassificationPrediction, rows: Block) -> float:
    target = rows[TARGET]
    if isinstance(predicted, RegressionPrediction) and isinstance(target, NumberArray):
        return float(np.sqrt(np.mean((predicted.mean - target.values) ** 2)))
    assert isinstance(predicted, ClassificationPrediction)
    assert isinstance(target, CategoryArray)
    columns = [predicted.classes.index(label) for label in target.labels]
    probabilities = predicted.probabilities[np.arange(predicted.rows), np.array(columns)[target.codes]]
    return float(-np.log(np.maximum(probabilities, MIN_PROBABILITY)).mean())


def _choice(report: SupervisedReport) -> str:
    """Return likelihood, prior, and the different kernels of the members, with their warps and terms."""
    spec = report.plan.spec
    kernels = dict.fromkeys(_kernel(member) for member in _ordered(report))
    others = [one.type for one in spec.basis if one.type not in {"kernel", "bias"}]
    noise = getattr(spec.likelihood, "noise_sd", "learned")
    kind = spec.likelihood.type if noise == "learned" else f"{spec.likelihood.type} {noise}"
    local = [] if report.local is None or report.local.on is None else [f"{report.local.neighbours} neighbours"]
    dates = ["calendar"] if report.calendar is not None and report.calendar.selected else []
    return ", ".join([kind, spec.prior.type, " + ".join(kernels), *others, *local, *dates])


def _ordered(report: SupervisedReport) -> list[Member]:
    """Return the members by the names of their kernels, those of classes by their labels."""
    return sorted(report.members, key=lambda member: (_kernel(member), str(member.label)))


def _kernel(member: Member) -> str:
    scales = member.hyperparameters
    name = "no kernel" if member.kernel is None else member.kernel.type
    warped = " warped" if any(warp.skew or warp.tail for warp in scales.warps) else ""
    widths = " by input" if len({width.input for width in scales.widths}) > 1 else ""
    return f"{name}{widths}{warped}{' with terms' if scales.terms else ''}"


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.{DIGITS}g}") for value in values)


def stores() -> dict[str, dict[str, Figures]]:
    """Return all stored figures, by the names of store and training."""
    return _STORES.validate_json(STORE.read_text("utf-8")) if STORE.exists() else {}


def store(name: str, found: Mapping[str, Figures]) -> None:
    """Add figures to a store; each training is one line of the file."""
    kept = stores()
    kept[name] = {**kept.get(name, {}), **found}
    parts = []
    for one, trainings in kept.items():
        lines = [f"{json.dumps(training)}: {json.dumps(encode(figures))}" for training, figures in trainings.items()]
        parts.append(f"{json.dumps(one)}: {{\n" + ",\n".join(lines) + "\n}")
    STORE.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def compared(before: Mapping[str, Figures], after: Mapping[str, Figures]) -> Table:
    """Return the table of two states, of the trainings that both have."""
    header = (
        "training",
        "rows x inputs",
        "CPU s",
        "functions",
        "score",
        "error",
        "largest difference",
        "choice",
        "why",
    )
    pairs = [
        (golden, before[golden.name], after[golden.name])
        for golden in GOLDENS
        if golden.name in before and golden.name in after
    ]
    seconds = [sum(one.seconds for one in column) for column in zip(*(pair[1:] for pair in pairs), strict=True)]
    note = (
        "Each cell has the figures before and after. The score is the log density of held-out rows with its standard"
        f" error, in nats a row; the error is the RMSE or log loss of {NEW_ROWS} new rows. Differences of means are in"
        f" predictive sds of before, those of classes are of probabilities, at {POINTS} new rows; then the largest"
        " ratio of sds. All together"
        f" {' and '.join(f'{one:.0f}' for one in seconds)} s of the CPU."
    )
    return Table("Golden trainings", header, tuple(_row(*pair) for pair in pairs), (note,))


def _row(golden: Golden, old: Figures, new: Figures) -> tuple[str, ...]:
    training, _ = golden.blocks()
    return (
        golden.name,
        f"{golden.rows:,} x {len(training) - 1}",
        f"{old.seconds:.2f}, {new.seconds:.2f}",
        f"{old.functions}, {new.functions}",
        f"{_score(old)}, {_score(new)}",
        f"{old.error:.3g}, {new.error:.3g}",
        _difference(old, new),
        old.described if old.described == new.described else f"{old.described}; then {new.described}",
        golden.why,
    )


def _score(one: Figures) -> str:
    if one.score is None:
        return "none"
    return f"{one.score:.3f}" if one.standard_error is None else f"{one.score:.3f} ± {one.standard_error:.3f}"


def _difference(old: Figures, new: Figures) -> str:
    difference = largest_difference(old, new)
    if not old.sds:
        decisions = sum(a != b for a, b in zip(old.decisions, new.decisions, strict=True))
        return f"{difference:.3f}" + (f", {decisions} decisions" if decisions else "")
    ratios = np.array(new.sds) / np.array(old.sds)
    return f"{difference:.2f} sd, x {ratios[np.abs(np.log(ratios)).argmax()]:.2f}"


def largest_difference(old: Figures, new: Figures) -> float:
    """Return the largest difference of means in sds of `old`, or of probabilities."""
    difference = np.abs(np.array(new.predictions) - np.array(old.predictions))
    return float((difference / np.array(old.sds) if old.sds else difference).max())


def main() -> None:
    """Store figures, or print the table of two stores."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.goldens", description=__doc__)
    parser.add_argument("--store", metavar="NAME", help=f"measure, and keep the figures in {STORE.name}")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), default=(BEFORE, AFTER))
    parser.add_argument("trainings", nargs="*", help="those to measure, by default all")
    given = parser.parse_args()
    if given.store is None:
        before, after = (stores()[name] for name in given.compare)
        sys.stdout.write(f"{compared(before, after).text()}\n")
        return
    for name in given.trainings or [golden.name for golden in GOLDENS]:
        store(given.store, measured([name]))


if __name__ == "__main__":
    main()
