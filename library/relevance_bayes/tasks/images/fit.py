"""The fit of wavelets to an image."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import Step
from relevance_bayes.tasks.fit import Fitted, Limits, Trainer, mapped
from relevance_bayes.tasks.images.encoding import steps


@dataclass(frozen=True)
class ImageFit:
    """An image to encode by wavelets: a file of float64, an intensity and a row number for each pixel.

    The fit ends at `functions`, or when the root mean square error is `error`; without both, it leaves noise with the
    sd `noise_sd`, or learned.
    """

    path: Path
    height: int
    width: int
    functions: int | None
    error: float | None
    noise_sd: float | None

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps in which functions enter, leave and move, then the result."""
        pixels = mapped(self.path, self.height * self.width, 2)[:, 0].reshape(self.height, self.width)
        place = fit_log.place
        for step in steps(
            np.array(pixels),
            functions=self.functions,
            error=self.error,
            noise_sd=self.noise_sd,
            start=fit_log.recorded(),
        ):
            if step.checkpoint is not None:
                fit_log.record(place, step.checkpoint)
            if step.code is not None:
                yield Fitted(step.code)
            else:
                functions = step.functions
                yield Step(str(step.phase), functions, self.functions, "function", None, functions, step.noise_sd)
