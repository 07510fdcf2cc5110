"""Versions with a baseline of rows that a test chooses, and rows to predict for."""

from dataclasses import replace

import numpy as np

from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.drift import DriftMonitor
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import Baseline
from relevance_bayes.tables.columns import Block, NumberArray, block_rows
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.listing import baseline_of, monitored_of
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.report import SupervisedReport
from relevance_bayes.tasks.union import NewVersion, VersionReport
from tests.served_versions import served
from tests.small_models import small_version
from tests.small_tables import texts

TRAINED_ON = 1_000


def rows(number: int, *, seed: int, shift: float = 0.0, red: float = 0.5) -> Block:
    """Rows for `small_version`; those that drift have an x further right, or another share of red."""
    random = np.random.default_rng(seed)
    colours = np.where(random.random(number) < red, "red", "blue")
    return {"x": NumberArray(random.normal(1.0 + shift, 0.5, number)), "colour": texts(*colours.tolist())}


def with_baseline(made: NewVersion | None = None, trained_on: Block | None = None) -> ServedVersion:
    """A loaded version, by default of numbers, with the histograms of these rows."""
    loaded = served(small_version(prior=GaussianProcess()) if made is None else made)
    report, sample = loaded.version.report, rows(TRAINED_ON, seed=0) if trained_on is None else trained_on
    baseline = baseline_of(sample, report.plan.inputs, None, monitored_of(sample, loaded.model), loaded.model.classes)
    return replace(loaded, version=replace(loaded.version, report=with_histograms(report, baseline)))


def with_histograms(report: VersionReport, baseline: Baseline | None) -> SupervisedReport | ComponentsReport:
    """The report of a task that has a baseline, with another one."""
    assert isinstance(report, SupervisedReport | ComponentsReport)
    return replace(report, baseline=baseline)


def baseline_in(loaded: ServedVersion) -> Baseline:
    found = loaded.version.report.baseline
    assert found is not None
    return found


def monitor_of(loaded: ServedVersion) -> DriftMonitor:
    return DriftMonitor(loaded.version, loaded.model.classes)


def add(monitor: DriftMonitor, loaded: ServedVersion, block: Block) -> Array:
    """Let a version predict rows, monitored, and return what is monitored of the predictions."""
    prediction = predict(loaded, PredictRequest(block, PredictOptions()))
    monitor.add(block, prediction, block_rows(block))
    return prediction.monitored[1]
