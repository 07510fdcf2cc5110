"""The picture of expansions: error against functions, and a density of a thousand terms by few."""

from pathlib import Path

import numpy as np

from benchmarks.accuracy.canvas import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, canvas
from benchmarks.expansions.cases import density, process, support_classes, support_regression
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import approximate, proper

MIN_ERROR = 0.003
ROUGH = 0.05


def draw_expansions() -> Path:
    """Every model's path, and a kernel density estimate on a line with its functions."""
    titles = ("error by number of functions", "a density of 1,000 terms, and the functions that approximate it")
    drawing = canvas((13.0, 5.4), "Sums of Gaussians approximated by few of them", titles, shared=False)
    errors, line = drawing.panels
    cases = (support_regression(), support_classes(), process(2), process(3), density(1), density(2))
    looks = ((BLUE, "o-"), (ORANGE, "s-"), (GREEN, "D-"), (GREEN, "D--"), (PURPLE, "^-"), (PURPLE, "^--"))
    for case, (colour, style) in zip(cases, looks, strict=True):
        numbers, missed = zip(*approximate(case.full, error=MIN_ERROR).path[1:], strict=True)
        label = f"{case.name}: {case.full.size:,} terms"
        errors.plot(numbers, missed, style, color=colour, lw=1.6, ms=3, label=label)
    errors.set(xscale="log", yscale="log", ylim=(MIN_ERROR, 1.0), xlabel="functions", ylabel="relative error in L2")
    full = density(1).full
    few = proper(full, approximate(full, error=ROUGH))
    x = np.linspace(-4.5, 4.5, 901)[:, None]
    line.plot(x, full(x), color=INK, lw=2.2, label="1,000 terms")
    line.plot(x, few.expansion(x), "--", color=ORANGE, lw=1.8, label=f"a density of {few.expansion.size} functions")
    for number in range(few.expansion.size):
        line.plot(x, _alone(few.expansion, number, x), color=MUTED, lw=1.0)
    line.set(xlabel="x", yticks=[])
    return drawing.save("expansions")


def _alone(f: KernelExpansion, number: int, x: Array) -> Array:
    chosen = np.array([number])
    return f.take(chosen, f.coefficients[chosen])(x)
