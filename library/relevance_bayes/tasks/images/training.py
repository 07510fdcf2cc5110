"""Training of an image's code: the file of its pixels, and the version of the result."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from relevance_bayes import __version__
from relevance_bayes.core.selection import Step
from relevance_bayes.records.functions import InputShape, RelevanceVector
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.models import TermsError
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.images.code import ImageCode, psnr
from relevance_bayes.tasks.images.fit import ImageFit
from relevance_bayes.tasks.images.report import ImagePredictor, ImageReport
from relevance_bayes.tasks.images.request import ImagePlan
from relevance_bayes.tasks.listing import BlockHolding, Learned, expected
from relevance_bayes.tasks.rows import Read, complete_rows, write_matrix

NewImageVersion: TypeAlias = Learned[ImageReport, ImagePredictor]

MAX_STEPS_REPORTED = 200
"""The number of points of the reported path of errors, evenly spaced in its logarithm."""


@dataclass(frozen=True)
class ImageTraining:
    """A plan, and the file of the pixels."""

    plan: ImagePlan
    dataset: IdentifiedTable
    path: Path

    @classmethod
    def prepare(cls, plan: ImagePlan, dataset: IdentifiedTable, read: Read, directory: Path) -> "ImageTraining":
        """Write the intensities into `directory`, in the order of the rows."""
        path = directory / "pixels.f64"
        parts = complete_rows(read, (), beside=[plan.target], needed=())
        write_matrix(InputEncoding.plain([plan.target]), parts, path)
        return cls(plan, dataset, path)

    @property
    def fit(self) -> ImageFit:
        """Return the order to the child process."""
        plan = self.plan
        return ImageFit(self.path, plan.height, plan.width, plan.max_functions, plan.error, plan.noise_sd)

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step, in the unit of the intensities."""
        return Progress(
            step.phase, step.completed, step.total, step.unit, functions=step.functions, noise_sd=step.noise_sd
        )

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewImageVersion:
        """Return the version to record."""
        code = expected(result, ImageCode)
        report = ImageReport(
            plan=self.plan,
            functions=code.functions,
            candidates=code.candidates,
            rows=self.dataset.rows,
            error=code.error,
            psnr=psnr(code.error, peak=self.plan.peak) if code.error > 0.0 else None,
            noise_sd=code.noise_sd,
            path=tuple(TermsError(number, error) for number, error in thinned(code.path)),
            termination=str(code.termination),
            dataset_id=self.dataset.id,
            dataset_digest=self.dataset.digest,
            seconds=seconds,
            software_version=__version__,
        )
        places = InputEncoding.plain([column.name for column in self.plan.inputs])
        return Learned(report, tuple(self._vectors(code)), ImagePredictor(places, code))

    def _vectors(self, code: ImageCode) -> Iterator[RelevanceVector]:
        """Yield the constant, which has no prior, then the wavelets."""
        names = [column.name for column in self.plan.inputs]
        pixels = code.height * code.width
        yield RelevanceVector(
            number=1,
            kind="bias",
            row=None,
            inputs=None,
            weight_mean=code.constant,
            weight_sd=float(code.noise_sd / np.sqrt(pixels)),
            alpha=0.0,
            gamma=1.0,
        )
        for number, (weight, sd, alpha) in enumerate(zip(code.weights, code.sds, code.alpha, strict=True)):
            shape = code.shape(number)
            lies = tuple(
                InputShape(
                    names[place],
                    location=shape.location[place],
                    scale=shape.scale,
                    frequency=shape.frequency[place] if shape.frequency else None,
                )
                for place in shape.inputs
            )
            yield RelevanceVector(
                number=number + 2,
                kind=shape.kind,
                row=None,
                inputs=None,
                weight_mean=float(weight),
                weight_sd=float(sd),
                alpha=float(alpha),
                gamma=float(1.0 - alpha * sd * sd),
                shape=lies,
                phase=shape.phase,
            )


def thinned(path: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
    """Return at most `MAX_STEPS_REPORTED` points of a path, with the first and the last."""
    if len(path) <= MAX_STEPS_REPORTED:
        return path
    ratio = len(path) ** (1.0 / (MAX_STEPS_REPORTED - 1))
    places = sorted({min(round(ratio**step), len(path)) - 1 for step in range(MAX_STEPS_REPORTED)})
    return tuple(path[place] for place in places)
