"""The fit of components to rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import Step
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.components.learning import FOLDS, components, drawn, typical_width, usual_densities
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.fit import Fitted, Limits, Trainer, mapped

MAX_DENSITIES = 1_000
"""The most log densities that are stored; of more, so many quantiles."""


@dataclass(frozen=True, eq=False)
class FoundComponents:
    """Components of the `drawn` rows, the share of variance they explain, and the log densities of held-out rows."""

    found: Components
    drawn: int
    reached: float
    log_densities: Array


@dataclass(frozen=True)
class ComponentsFit:
    """Rows to find components of: a file of float64, `rows` rows of `inputs` numbers and the dataset row's number.

    `widths` has one number for all inputs or one for each; without it, the width is the median distance of rows.
    """

    path: Path
    rows: int
    inputs: int
    kernel: Covariance
    widths: tuple[float, ...] | None
    explained: float
    seed: int

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps in which rows enter, then the result with the densities over folds."""
        yield Step("components", 0, None, "steps", functions=0)
        inputs = np.ascontiguousarray(mapped(self.path, self.rows, self.inputs + 1)[:, : self.inputs])
        rows = drawn(inputs, self.seed)
        widths = np.array([typical_width(inputs, self.seed)] if self.widths is None else self.widths)
        learning = components(
            inputs, self.kernel, InputMap(widths), explained=self.explained, seed=self.seed, fit_log=fit_log
        )
        for number, found in enumerate(learning, 1):
            if isinstance(found, Components):
                reached = 1.0 - float(found.missed(inputs[rows]).mean())
                for usual in usual_densities(inputs, found, seed=self.seed, fit_log=fit_log):
                    if isinstance(usual, int):
                        yield Step("novelty", usual, FOLDS, "folds", functions=len(found.rows))
                    else:
                        yield Fitted(FoundComponents(found, len(rows), reached, _quantiles(usual)))
            else:
                yield Step("components", number, None, "steps", functions=found)


def _quantiles(rising: Array) -> Array:
    """Return all values, or so many quantiles with the least and the greatest among them."""
    if len(rising) <= MAX_DENSITIES:
        return rising
    return np.quantile(rising, np.linspace(0.0, 1.0, MAX_DENSITIES))
