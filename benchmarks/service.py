"""(f) Real data through the running service: CSV in, defaults, predictions for the rows held back, beside an SVM."""

import csv
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.files import NotRun, Split
from benchmarks.options import Options
from benchmarks.repeats import Figures
from benchmarks.report import Table, not_run
from benchmarks.support_vectors import support_classification, support_regression
from examples.demo.service import running_service
from relevance_bayes.client import Client, connect
from relevance_bayes.client.responses import Json, Prediction, SupervisedVersion
from relevance_bayes.core.types import Array

OURS: dict[str, dict[str, Json]] = {
    "ours": {},
    "ours, process": {"prior": {"type": "gaussian_process"}},
}
"""The request of each of our engines beside `dataset_id` and `target`."""

REGRESSION = ("engine", "RMSE", "NLL", "inside 95 %", "vectors", "seconds")
CLASSIFICATION = ("engine", "error %", "log loss", "vectors", "seconds")
NOTE = (
    "The first of 10 folds is measured on. Only `dataset_id` and `target` are sent, and the prior for a process; "
    "seconds from the job's request to its end, search for the width counted. SVM: scikit-learn, standardised, C and "
    "gamma by 5-fold CV on a 6 x 6 grid."
)


def airfoil(options: Options) -> list[Table]:
    """Regression; 1,353 rows, 5 inputs."""
    peer = support_regression
    return [_table("airfoil", REGRESSION, partial(options.data.airfoil, 0), _regression, peer, _real_cells)]


def wdbc(options: Options) -> list[Table]:
    """Two classes; 511 rows, 30 inputs."""
    peer = support_classification
    return [_table("wdbc", CLASSIFICATION, partial(options.data.wdbc, 0), _classification, peer, _class_cells)]


def _table(
    title: str,
    header: tuple[str, ...],
    read: Callable[[], Split],
    scored: Callable[[tuple[Prediction, ...], Array], Figures],
    peer: Callable[[Split], Figures],
    cells: Callable[[Figures], tuple[str, ...]],
) -> Table:
    try:
        split = read()
    except NotRun as absent:
        return not_run(f"{title} through the service", absent)
    with (
        TemporaryDirectory() as name,
        running_service(Path(name, "benchmark.db"), log=Path(name, "server.log")) as url,
        connect(url) as calls,
    ):
        dataset = _uploaded(calls, split, Path(name), integer_targets="error %" in header)
        rows = []
        for engine, request in OURS.items():
            predictions, found = _served(calls, split, dataset, request)
            rows.append((engine, *cells(scored(predictions, split.t_test) | found)))
    notes = [NOTE]
    if find_spec("sklearn") is None:
        notes.append("SVM: NOT RUN: sklearn is not installed.")
    else:
        rows.append(("SVM", *cells(peer(split))))
    size = f"{len(split.t)} training rows, {len(split.t_test)} measured on"
    return Table(f"{title} through the service: {size}", header, tuple(rows), tuple(notes))


def _uploaded(calls: Client, split: Split, directory: Path, *, integer_targets: bool) -> str:
    file, names = directory / "learning.csv", [f"x{number}" for number in range(1, split.X.shape[1] + 1)]
    with file.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream)
        lines.writerow([*names, "y"])
        targets = split.t.astype(int).tolist() if integer_targets else split.t.tolist()
        lines.writerows([*row, target] for row, target in zip(split.X.tolist(), targets, strict=True))
    return calls.upload(file, name="benchmark").id


def _served(
    calls: Client, split: Split, dataset: str, request: dict[str, Json]
) -> tuple[tuple[Prediction, ...], Figures]:
    names = [f"x{number}" for number in range(1, split.X.shape[1] + 1)]
    start = perf_counter()
    job = calls.trainings.wait(calls.trainings.submit({"dataset_id": dataset, "target": "y", **request}).id)
    seconds = perf_counter() - start
    if job.state != "succeeded":
        raise RuntimeError(f"the job ended as {job.state}: {job.error}")
    rows: list[Json] = [list(row) for row in split.X_test.tolist()]
    response = calls.predict("benchmark", {"names": list(names), "rows": rows})
    return response.predictions, {"vectors": float(_vectors(calls, calls.version("benchmark"))), "seconds": seconds}


def _vectors(calls: Client, version: SupervisedVersion) -> int:
    kept = calls.relevance_vectors(version.model, version.version)
    return sum(vector.row is not None for vector in kept)


def _regression(predictions: tuple[Prediction, ...], t: Array) -> Figures:
    moments = [(one.mean, one.sd, one.lower, one.upper) for one in predictions]
    mean, sd, lower, upper = np.asarray(moments, np.float64).T
    residual = t - mean
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "nll": float(np.mean(0.5 * np.log(2.0 * np.pi * sd**2) + residual**2 / (2.0 * sd**2))),
        "coverage": float(np.mean((lower <= t) & (t <= upper))),
    }


def _classification(predictions: tuple[Prediction, ...], t: Array) -> Figures:
    wrong, losses = 0, []
    for one, label in zip(predictions, t.astype(int).tolist(), strict=True):
        assert one.probabilities is not None
        probability = {share.label: share.probability for share in one.probabilities}[label]
        wrong += one.label != label
        losses.append(-np.log(max(probability, np.finfo(float).tiny)))
    return {"error": wrong / len(t), "log_loss": float(np.mean(losses))}


def _real_cells(figures: Figures) -> tuple[str, ...]:
    nll, coverage = (f"{figures[name]:.3f}" if name in figures else "none" for name in ("nll", "coverage"))
    return f"{figures['rmse']:.3f}", nll, coverage, f"{figures['vectors']:g}", f"{figures['seconds']:.1f}"


def _class_cells(figures: Figures) -> tuple[str, ...]:
    error, loss = f"{100.0 * figures['error']:.2f}", f"{figures['log_loss']:.4f}"
    return error, loss, f"{figures['vectors']:g}", f"{figures['seconds']:.1f}"
