"""The reliability of predictions of rows that were left out."""

from math import isfinite, sqrt

import numpy as np

from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedTarget, user_log_evidence
from relevance_bayes.tasks.calibration import CalibrationBins, pit_counts
from relevance_bayes.types.diagnostics import (
    CalibrationCurve,
    ClassReliability,
    LeftOutSource,
    LevelCoverage,
    NumberReliability,
    Reliability,
)

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""The probabilities of the central intervals."""

MAX_CLASSES = 32
"""The number of classes with a curve, those of the most rows."""


def reliability_of(target: EncodedTarget, found: Measured, source: LeftOutSource) -> Reliability | None:
    """Return the reliability of predictions in the units of t; None where no row has a finite one."""
    finite = np.isfinite(found.outputs).all(axis=0)
    if not finite.any():
        return None
    t, outputs = found.t[finite], found.outputs[:, finite]
    losses = (found.each["log_loss"] if target.classes else found.each["nll"])[finite]
    log_score = user_log_evidence(target, -float(losses.mean()), 0 if target.classes else 1)
    rows, score = len(t), log_score if isfinite(log_score) else None
    if not target.classes:
        _, below, upto = outputs
        return NumberReliability(
            kind="numbers",
            source=source,
            rows=rows,
            log_score=score,
            pit=tuple((pit_counts(below, upto) / rows).tolist()),
            coverage=tuple(_coverage(level, below, upto) for level in LEVELS),
        )
    counts = np.bincount(t.astype(np.intp), minlength=len(target.classes))
    listed = np.sort(np.argsort(-counts, kind="stable")[:MAX_CLASSES]).tolist()
    return ClassReliability(
        kind="classes",
        source=source,
        rows=rows,
        log_score=score,
        brier=float(found.each["brier"][finite].mean()),
        curves=tuple(
            CalibrationCurve(
                target.classes[place], tuple(CalibrationBins.of(outputs[place], (t == place).astype(np.float64)).bins())
            )
            for place in listed
        ),
    )


def _coverage(level: float, below: Array, upto: Array) -> LevelCoverage:
    """Return the coverage of the interval between two quantiles.

    t >= the quantile at p if P(t' <= t) >= p, and t <= the one at q if P(t' < t) < q.
    """
    tail = (1.0 - level) / 2.0
    inside = (upto >= tail) & (below < 1.0 - tail)
    return LevelCoverage(level, float(inside.mean()), sqrt(level * (1.0 - level) / len(inside)))
