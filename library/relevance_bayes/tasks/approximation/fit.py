"""The fit of a sparse approximation of a known function."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import Step
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import Approximation, approximating, negative_mass, proper_steps
from relevance_bayes.tasks.fit import Fitted, Limits, Trainer, mapped


@dataclass(frozen=True, eq=False)
class Approximated:
    """The kept terms, the integral of all terms, and that of their negative part before they were a density."""

    found: Approximation
    integral: float
    negative: float


@dataclass(frozen=True)
class ApproximationFit:
    """A sum of Gaussians to approximate: a file of float64 with `rows` terms.

    Each row has `inputs` numbers, the coefficient and the number of its dataset row; without `coefficients` all terms
    have the same, and their sum integrates to 1.
    """

    path: Path
    rows: int
    widths: tuple[float, ...]
    coefficients: bool
    constant: float
    tolerance: float
    maximum: int | None
    density: bool

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps in which terms enter and, for a density, those that make it one; then the result."""
        yield Step("approximating", 0, 1, "function", functions=0)
        inputs = len(self.widths)
        terms = mapped(self.path, self.rows, inputs + 1 + self.coefficients)
        widths = np.tile(self.widths, (self.rows, 1))
        coefficients = terms[:, inputs] if self.coefficients else np.ones(self.rows)
        whole = KernelExpansion(
            np.ascontiguousarray(terms[:, :inputs]), np.ascontiguousarray(coefficients), widths, self.constant
        )
        if not self.coefficients:
            whole = KernelExpansion(whole.centres, whole.coefficients / whole.mass, widths, self.constant)
        for found in approximating(whole, error=self.tolerance, max_functions=self.maximum, fit_log=fit_log):
            if isinstance(found, int):
                yield Step("approximating", 0, 1, "function", functions=found)
                continue
            yield Step("approximating", 1, 1, "function", functions=found.expansion.size)
            yield from self._improved(whole, found, fit_log)

    def _improved(self, whole: KernelExpansion, found: Approximation, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the approximation, made a density where that is requested."""
        negative = negative_mass(found.expansion)
        if not self.density:
            yield Fitted(Approximated(found, whole.mass, negative))
            return
        for better in proper_steps(whole, found, max_functions=self.maximum, fit_log=fit_log):
            if isinstance(better, int):
                yield Step("density", 0, 1, "function", functions=better)
            else:
                yield Fitted(Approximated(better, whole.mass, negative))
