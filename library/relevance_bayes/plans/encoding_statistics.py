"""The encoding that follows from the training rows, collected block by block."""

from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.likelihoods import LogGaussian
from relevance_bayes.core.types import Indices, Mask
from relevance_bayes.plans.inputs import has_effects
from relevance_bayes.plans.requests import GroupSplit, InputColumn, Missing, SupervisedPlan
from relevance_bayes.plans.rows import Ranks, content_hash, mixed
from relevance_bayes.tables.columns import Block, CategoryColumn, taken
from relevance_bayes.tables.encoding.columns import (
    FOLDS,
    EffectStatistics,
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    Limits,
    PeriodStatistics,
    ValueSample,
    encoded_effects,
)
from relevance_bayes.tables.encoding.logarithms import logarithmic_scale
from relevance_bayes.tables.encoding.table import encode_target, gaps, real_values
from relevance_bayes.tables.moments import Moments


def effect_folds(plan: SupervisedPlan, block: Block, draws: Ranks) -> Indices:
    """Return the fold (N,) of each row of a block for the effects of texts; `draws` (N,) are a uniform number of each.

    Rows of one group stay together, and copies of a row where they are left out of the training. Elsewhere copies are
    observations as others are: the rows of one text and class, were they together, would have no part in their own
    encoding, which would then be that of the other classes.
    """
    split = plan.split
    if isinstance(split, GroupSplit):
        keys = content_hash(block, [split.column], plan.spec.seed)
    elif plan.spec.likelihood.has_target_units:
        keys = content_hash(block, [*(column.name for column in plan.inputs), plan.target], plan.spec.seed)
    else:
        keys = mixed(draws + mixed(np.array([plan.spec.seed], np.uint64)))
    return (keys % np.uint64(FOLDS)).astype(np.intp)


def _of_effects(column: EncodedInput, effects: EffectStatistics, without: int | None) -> EncodedEffects:
    found = encoded_effects(effects, without=without)
    fill = None if column.fill is None else 0.0
    return EncodedEffects(column.name, effects.texts, found, fill, column.indicator)


class ColumnStatistics:
    """Statistics of one column over the training rows."""

    def __init__(self, *, sampled: bool = False, has_periods: bool = False) -> None:
        self.gaps = 0
        self.moments = Moments()
        self.counts: dict[str, int] = {}
        self.sample = ValueSample() if sampled else None
        self.dates = PeriodStatistics() if has_periods else None

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
            if self.dates is not None:
                self.dates.add(values)

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


MIN_GAPS = 20
"""The least number of missing values of an input with an indicator of them, where others are drawn, ..."""

MIN_GAP_SHARE = 0.02
"""... and their least share of the rows: the effect of fewer is not learned."""


class InputStatistics:
    """Statistics of the inputs over the training rows, in bounded memory.

    An input has an indicator from `min_gaps` missing values on that are `min_share` of the rows.
    """

    def __init__(
        self,
        inputs: Sequence[InputColumn],
        *,
        standardise: bool,
        missing: Missing,
        has_periods: bool = False,
        min_gaps: int = 1,
        min_share: float = 0.0,
    ) -> None:
        self._inputs = inputs
        self._standardise = standardise
        self._accepts_gaps = missing == "indicator"
        self._min_gaps, self._min_share = min_gaps, min_share
        self._seen = {
            column.name: ColumnStatistics(
                sampled=standardise and column.kind in {"number", "timestamp"},
                has_periods=has_periods and column.kind == "timestamp",
            )
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

    def logarithms(self) -> tuple[EncodedNumber, ...]:
        """Return the encodings by logarithms of the standardised numbers with heavy tails."""
        found = []
        for column in self._inputs:
            seen = self._seen[column.name]
            by = None if seen.sample is None or column.kind != "number" else logarithmic_scale(seen.sample.counts)
            if by is not None:
                fill = by.mean if self._accepts_gaps else None
                found.append(EncodedNumber(column.name, "number", by.shift, by.scale, fill, False, unit=by.unit))
        return tuple(found)

    def _input(self, column: InputColumn) -> EncodedInput:
        seen = self._seen[column.name]
        indicator = self._accepts_gaps and seen.gaps >= max(self._min_gaps, self._min_share * self.rows)
        if column.kind == "category":
            counts = sorted(seen.counts.items())
            total = sum(count for _, count in counts)
            fill = tuple(count / total for _, count in counts) if self._accepts_gaps else None
            return EncodedCategory(column.name, tuple(label for label, _ in counts), fill, indicator)
        mean = seen.moments.mean
        shift, scale = (mean, seen.moments.sd or 1.0) if self._standardise else (0.0, 1.0)
        periods = () if seen.dates is None else seen.dates.periods()
        replaced = mean if self._accepts_gaps else None
        return EncodedNumber(column.name, column.kind, shift, scale, replaced, indicator, periods)


class Statistics:
    """Statistics of inputs and target over the training rows, in bounded memory."""

    def __init__(self, plan: SupervisedPlan) -> None:
        self._plan = plan
        self._inputs = InputStatistics(
            plan.inputs,
            standardise=plan.standardise,
            missing=plan.missing,
            has_periods=plan.dates == "calendar",
            min_gaps=MIN_GAPS,
            min_share=MIN_GAP_SHARE,
        )
        self._target = ColumnStatistics()
        outputs = len(plan.classes) if len(plan.classes) > 2 else 1
        self._effects = {column.name: EffectStatistics(outputs) for column in plan.inputs if has_effects(column)}
        likelihoods = [spec.likelihood for spec in (plan.spec, *plan.compared_models)]
        self._has_unit = all(one.targets not in {"count", "share", "amount"} for one in likelihoods)
        self._positive = self._has_unit and any(isinstance(one, LogGaussian) for one in likelihoods)
        self._log_targets = Moments()

    def add(self, block: Block, chosen: Mask, draws: Ranks) -> None:
        """Add the rows of `block` for which `chosen` (N,) is true; `draws` (N,) are a uniform number of each row."""
        name = self._plan.target
        self._inputs.add(block, chosen)
        self._target.add(block, name, chosen)
        self._add_effects(block, chosen, draws)
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
        return self._encoding()

    def logarithms(self) -> tuple[EncodedNumber, ...]:
        """Return the encodings by logarithms of the standardised numbers with heavy tails."""
        return self._inputs.logarithms()

    def sparse_texts(self) -> tuple[str, ...]:
        """Return the texts that are encoded by their effects and have few rows each; none without other inputs."""
        found = tuple(name for name, effects in self._effects.items() if effects.is_sparse)
        return found if len(found) < len(self._plan.inputs) else ()

    def fold_encodings(self) -> tuple[Encoding, ...]:
        """Return the encodings of the training rows of each fold, by the effects of texts in the others; none without
        texts that are encoded by their effects."""
        return tuple(self._encoding(without=fold) for fold in range(FOLDS)) if self._effects else ()

    def _encoding(self, *, without: int | None = None) -> Encoding:
        inputs = (
            _of_effects(column, self._effects[column.name], without) if column.name in self._effects else column
            for column in self._inputs.encoding().inputs
        )
        return Encoding(tuple(inputs), self._encoded_target())

    def _add_effects(self, block: Block, chosen: Mask, draws: Ranks) -> None:
        if not self._effects:
            return
        plan, rows = self._plan, np.flatnonzero(chosen)
        t = encode_target(EncodedTarget(plan.target, plan.target_kind, 0.0, 1.0, plan.classes), block)[rows]
        several = len(plan.classes) > 2
        targets = (t[:, None] == np.arange(len(plan.classes))).astype(np.float64) if several else t[:, None]
        folds = effect_folds(plan, block, draws)[rows]
        for name, effects in self._effects.items():
            column = taken(block[name], rows)
            if isinstance(column, CategoryColumn):
                effects.add(column, targets, folds)

    def _encoded_target(self) -> EncodedTarget:
        plan, seen = self._plan, self._target.moments
        shift, scale = 0.0, 1.0
        if self._positive:
            # The geometric mean, where the mean logarithm is 0: it is between the least and the greatest target.
            with np.errstate(over="ignore"):
                scale = float(np.clip(np.exp(self._log_targets.mean), seen.minimum, seen.maximum))
        elif self._has_unit and plan.spec.likelihood.targets == "real":
            shift, scale = seen.mean, seen.sd or 1.0
        logarithmic = isinstance(plan.spec.likelihood, LogGaussian)
        return EncodedTarget(plan.target, plan.target_kind, shift, scale, plan.classes, logarithmic, plan.noise_column)
