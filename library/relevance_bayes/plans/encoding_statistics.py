"""The encoding that follows from the training rows, collected block by block."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.likelihoods import LogGaussian
from relevance_bayes.core.types import Mask
from relevance_bayes.plans.requests import InputColumn, Missing, SupervisedPlan
from relevance_bayes.tables.columns import Block, CategoryColumn
from relevance_bayes.tables.encoding.columns import (
    EncodedCategory,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
)
from relevance_bayes.tables.encoding.outlying import Limits, ValueSample
from relevance_bayes.tables.encoding.raw import gaps, real_values
from relevance_bayes.tables.moments import Moments


class ColumnStatistics:
    """Statistics of one column over the training rows."""

    def __init__(self, *, sampled: bool = False) -> None:
        self.gaps = 0
        self.moments = Moments()
        self.counts: dict[str, int] = {}
        self.sample = ValueSample() if sampled else None

    def add(self, block: Block, name: str, chosen: Mask) -> None:
        """Add the column's cells in the rows of `block` for which `chosen` (N,) is true."""
        column = block[name]
        missing = gaps(column)
        present = chosen & ~missing
        self.gaps += int((chosen & missing).sum())
        if isinstance(column, CategoryColumn):
            found = np.bincount(column.codes[present], minlength=len(column.labels)).tolist()
            for label, count in zip(column.labels, found, strict=True):
                if count:
                    self.counts[label] = self.counts.get(label, 0) + count
        else:
            values = real_values(column)[present]
            self.moments += Moments.of(values)
            if self.sample is not None:
                self.sample.add(values)

    @property
    def limits(self) -> Limits | None:
        """Return the limits of its ordinary values, where some are outlying and a sample was kept."""
        if self.sample is None or not self.moments.count:
            return None
        return self.sample.limits(self.moments.minimum, self.moments.maximum)

    @property
    def is_constant(self) -> bool:
        """Return whether all values are equal."""
        return self.moments.is_constant and len(self.counts) < 2


class InputStatistics:
    """Statistics of the inputs over the training rows, in bounded memory."""

    def __init__(self, inputs: Sequence[InputColumn], *, standardise: bool, missing: Missing) -> None:
        self._inputs = inputs
        self._standardise = standardise
        self._accepts_gaps = missing == "indicator"
        self._seen = {
            column.name: ColumnStatistics(sampled=standardise and column.kind in {"number", "timestamp"})
            for column in inputs
        }
        self.rows = 0

    def add(self, block: Block, chosen: Mask) -> None:
        """Add the rows of `block` for which `chosen` (N,) is true."""
        self.rows += int(chosen.sum())
        for name, seen in self._seen.items():
            seen.add(block, name, chosen)

    def limits(self) -> dict[str, Limits]:
        """Return the limits of the standardised inputs with outlying values, by name."""
        found = {name: seen.limits for name, seen in self._seen.items()}
        return {name: limits for name, limits in found.items() if limits is not None}

    def encoding(self) -> InputEncoding:
        """Return the encoding from these rows."""
        return InputEncoding(tuple(self._input(column) for column in self._inputs))

    def _input(self, column: InputColumn) -> EncodedInput:
        seen = self._seen[column.name]
        indicator = self._accepts_gaps and seen.gaps > 0
        if column.kind == "category":
            counts = sorted(seen.counts.items())
            total = sum(count for _, count in counts)
            fill = tuple(count / total for _, count in counts) if self._accepts_gaps else None
            return EncodedCategory(column.name, tuple(label for label, _ in counts), fill, indicator)
        mean = seen.moments.mean
        shift, scale = (mean, seen.moments.sd or 1.0) if self._standardise else (0.0, 1.0)
        return EncodedNumber(column.name, column.kind, shift, scale, mean if self._accepts_gaps else None, indicator)


class Statistics:
    """Statistics of inputs and target over the training rows, in bounded memory."""

    def __init__(self, plan: SupervisedPlan) -> None:
        self._plan = plan
        self._inputs = InputStatistics(plan.inputs, standardise=plan.standardise, missing=plan.missing)
        self._target = ColumnStatistics()
        self._positive = any(isinstance(spec.likelihood, LogGaussian) for spec in (plan.spec, *plan.compared_models))
        self._log_targets = Moments()

    def add(self, block: Block, chosen: Mask) -> None:
        """Add the rows of `block` for which `chosen` (N,) is true."""
        name = self._plan.target
        self._inputs.add(block, chosen)
        self._target.add(block, name, chosen)
        column = block[name]
        if self._positive and not isinstance(column, CategoryColumn):
            self._log_targets += Moments.of(np.log(real_values(column)[chosen & ~gaps(column)]))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self._inputs.rows

    def limits(self) -> dict[str, Limits]:
        """Return the limits of the standardised inputs with outlying values, by name."""
        return self._inputs.limits()

    @property
    def has_one_target(self) -> bool:
        """Return whether all targets are equal."""
        return self._target.is_constant

    def encoding(self) -> Encoding:
        """Return the encoding from these rows."""
        return Encoding(self._inputs.encoding().inputs, self._encoded_target())

    def _encoded_target(self) -> EncodedTarget:
        plan, seen = self._plan, self._target.moments
        shift, scale = 0.0, 1.0
        if self._positive:
            # The geometric mean, where the mean logarithm is 0: it is between the least and the greatest target.
            with np.errstate(over="ignore"):
                scale = float(np.clip(np.exp(self._log_targets.mean), seen.minimum, seen.maximum))
        elif plan.spec.likelihood.targets == "real":
            shift, scale = seen.mean, seen.sd or 1.0
        logarithmic = isinstance(plan.spec.likelihood, LogGaussian)
        return EncodedTarget(plan.target, plan.target_kind, shift, scale, plan.classes, logarithmic, plan.noise_column)
