"""Diagnostics as a training makes them, small."""

from dataclasses import replace

from relevance_bayes.records.diagnostics import (
    CalibrationCurve,
    CategoryResidual,
    CategoryResiduals,
    ClassReliability,
    Diagnostics,
    LevelCoverage,
    NumberReliability,
    NumberResiduals,
    Residuals,
    ResidualStatistics,
    Trace,
    TraceStep,
)
from relevance_bayes.records.evaluations import ReliabilityBin
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.small_models import small_version

PLAN = small_version().report.plan
X, COLOUR = PLAN.inputs
STATISTICS = ResidualStatistics(6, 0.25, 1.5)
OF_X = NumberResiduals(
    name=X.name,
    kind="number",
    missing=ResidualStatistics(1, 0.0, 0.0),
    min=-1.0,
    max=3.0,
    edges=(0.5,),
    bins=(STATISTICS, ResidualStatistics(3, 0.0, 1.0)),
)
OF_COLOUR = CategoryResiduals(
    name=COLOUR.name,
    kind="category",
    missing=None,
    categories=(CategoryResidual("red", 7, 0.0, 1.0), CategoryResidual("blue", 2, 0.0, 1.0)),
    other=ResidualStatistics(1, 2.0, 0.0),
)
RELIABILITY = NumberReliability(
    kind="numbers",
    source="holdout",
    rows=10,
    log_score=-1.25,
    pit=(0.05,) * 20,
    coverage=(LevelCoverage(0.95, 0.9, 0.07),),
)
STEP = TraceStep(iteration=0, phase="fit", objective=-4.0, gain=None, noise_sd=0.5, functions=1, entered=3, left=None)
TRACE = Trace(member=0, steps=2, kept=(STEP, replace(STEP, iteration=1, objective=-3.0, gain=1.0)))
RESIDUALS = Residuals(source="holdout", rows=10, prediction=replace(OF_X, name="mean"), inputs=(OF_X, OF_COLOUR))
FOUND = Diagnostics(
    reliability=RELIABILITY,
    reason=None,
    residuals=RESIDUALS,
    traces=(TRACE,),
)
CLASSES = ClassReliability(
    kind="classes",
    source="validation",
    rows=10,
    log_score=None,
    brier=0.1,
    curves=(CalibrationCurve("a", (ReliabilityBin(0.0, 0.05, 10, 0.02, 0.1),)),),
)


def kept(name: str = "kept") -> NewSupervisedVersion:
    made = small_version(name=name)
    return replace(made, report=replace(made.report, diagnostics=FOUND))
