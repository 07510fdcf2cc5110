"""The encoding that the training rows imply, gathered block by block."""

import numpy as np

from app.domain.encoding.columns import EncodedCategory, EncodedInput, EncodedNumber, EncodedTarget, Encoding
from app.domain.encoding.raw import gaps, real_values
from app.domain.moments import Moments
from app.domain.requests import InputColumn, TrainingPlan
from app.domain.tables import Block, CategoryColumn
from app.sparse_bayes.likelihoods import GaussianNoise, LogGaussian, StudentT
from app.sparse_bayes.types import Mask


class Statistics:
    """What was seen of the rows to train on; its size does not grow with them."""

    def __init__(self, plan: TrainingPlan) -> None:
        self._plan = plan
        names = (plan.target, *(column.name for column in plan.inputs))
        self._gaps = dict.fromkeys(names, 0)
        self._moments = dict.fromkeys(names, Moments())
        self._counts: dict[str, dict[str, int]] = {name: {} for name in names}
        self._positive = any(isinstance(spec.likelihood, LogGaussian) for spec in (plan.spec, *plan.rivals))
        self._log_targets = Moments()
        self.rows = 0

    def add(self, block: Block, chosen: Mask) -> None:
        """Take in the rows of `block` for which `chosen` (N,) is true."""
        self.rows += int(chosen.sum())
        for name in self._gaps:
            self._take(block, name, chosen)

    def _take(self, block: Block, name: str, chosen: Mask) -> None:
        column = block[name]
        missing = gaps(column)
        present = chosen & ~missing
        self._gaps[name] += int((chosen & missing).sum())
        if isinstance(column, CategoryColumn):
            counts = self._counts[name]
            found = np.bincount(column.codes[present], minlength=len(column.labels)).tolist()
            for label, count in zip(column.labels, found, strict=True):
                if count:
                    counts[label] = counts.get(label, 0) + count
        else:
            values = real_values(column)[present]
            self._moments[name] += Moments.of(values)
            if self._positive and name == self._plan.target:
                self._log_targets += Moments.of(np.log(values))

    @property
    def one_target(self) -> bool:
        """Whether all targets seen are the same."""
        name = self._plan.target
        return self._moments[name].constant and len(self._counts[name]) < 2

    def encoding(self) -> Encoding:
        """The encoding of these rows."""
        return Encoding(tuple(self._input(column) for column in self._plan.inputs), self._target())

    def _input(self, column: InputColumn) -> EncodedInput:
        accepts_gaps = self._plan.missing == "indicator"
        indicator = accepts_gaps and self._gaps[column.name] > 0
        if column.kind == "category":
            counts = sorted(self._counts[column.name].items())
            total = sum(count for _, count in counts)
            fill = tuple(count / total for _, count in counts) if accepts_gaps else None
            return EncodedCategory(column.name, tuple(label for label, _ in counts), fill, indicator)
        seen = self._moments[column.name]
        shift, scale = (seen.mean, seen.sd or 1.0) if self._plan.standardise else (0.0, 1.0)
        return EncodedNumber(column.name, column.kind, shift, scale, seen.mean if accepts_gaps else None, indicator)

    def _target(self) -> EncodedTarget:
        plan, seen = self._plan, self._moments[self._plan.target]
        shift, scale = 0.0, 1.0
        match plan.spec.likelihood:
            case _ if self._positive:
                # The geometric mean, at which the logarithm is 0 on average: it lies between the least and the most.
                with np.errstate(over="ignore"):
                    scale = float(np.clip(np.exp(self._log_targets.mean), seen.minimum, seen.maximum))
            case GaussianNoise(noise_sd="learned" | "rows") | StudentT():
                shift, scale = seen.mean, seen.sd or 1.0
            case _:
                pass
        logarithmic = isinstance(plan.spec.likelihood, LogGaussian)
        return EncodedTarget(plan.target, plan.target_kind, shift, scale, plan.classes, logarithmic, plan.noise_column)
