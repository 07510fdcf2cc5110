"""The predictor of a supervised task, and its figures on rows with known targets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import nan, sqrt

import numpy as np

from relevance_bayes.core.basis import ConstantFunction, KernelFunctions
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, StudentT
from relevance_bayes.core.likelihoods.gaussian import standard_ends
from relevance_bayes.core.models.effects import averages, contributions, joint
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel, ReadyLocal
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import (
    AnyReady,
    OneRow,
    ReadyPool,
    degrees_of_freedom_of,
    has_latent_per_class,
    likelihood_of,
    one_row,
    ready_members,
    ready_of,
)
from relevance_bayes.core.models.prediction import ClassPrediction, NumberPrediction, Prediction, Ready
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import MissingValue, UnknownCategory
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import (
    EncodedNumber,
    EncodedTarget,
    column_units,
    columns_of,
    encode_inputs,
    encode_known,
    encode_noise,
    user_mean,
    user_sd,
    user_variance,
)
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.decisions import DecisionRule, Decisions, most_probable, rule_of
from relevance_bayes.tasks.prediction import (
    AveragedFunction,
    LabelledBlock,
    PredictiveModel,
    PredictOptions,
    ScoredRows,
    VersionExpansion,
    no_expansion,
    refuse_all,
)
from relevance_bayes.tasks.supervised.averages import AveragedRows, CompletedRows, covariance_of
from relevance_bayes.tasks.supervised.evaluation import ROWS_AT_ONCE, labelled_block, scored_rows
from relevance_bayes.tasks.supervised.input_rows import InputDistribution
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, Explanation, RegressionPrediction
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport

FIGURES, TOTAL = 8, 4
"""The number of figures of a predicted number, in the order of `figures_of`, and the place of its variance."""

MAX_FLOAT = float(np.finfo(np.float64).max)


def regression_of(
    figures: Array,
    support: Array | None,
    covariance: Array | None = None,
    explanation: Explanation | None = None,
    faults: tuple[Fault, ...] = (),
) -> RegressionPrediction:
    """Return the prediction from `figures` (FIGURES, N) in the order of `figures_of`."""
    mean, lower, upper, sd, total, noise, weights, residual = figures
    parts = total, noise, weights, residual
    return RegressionPrediction(mean, sd, *parts, lower, upper, support, covariance, explanation, faults)


def figures_of(target: EncodedTarget, part: NumberPrediction, interval: float) -> Array:
    """Return mean, both ends of the interval, sd, variance and its three parts, in the user's units: (FIGURES, n)."""
    total = part.variance
    # In one call, since for few rows a call costs more than its numbers.
    places = user_mean(target, np.array((part.mean, *part.interval(interval))))
    variances = user_variance(target, np.array((total, part.noise, part.weights, part.residual)))
    return np.concatenate([places, user_sd(target, np.sqrt(total))[None], variances])


def figures_of_one(
    target: EncodedTarget,
    mean: float,
    noise: float,
    weights: float,
    residual: float,
    interval: float,
    degrees_of_freedom: float | None = None,
) -> list[float]:
    """Return the figures of one row with Gaussian noise, equal to those of `figures_of` to the bit."""
    total = noise + weights + residual
    sd, unit, largest = sqrt(total), target.scale, MAX_FLOAT
    lower, upper = standard_ends(interval, degrees_of_freedom)
    ends = mean + lower * sd, mean + upper * sd
    places = [min(max(place * unit + target.shift, -largest), largest) for place in (mean, *ends)]
    variances = [min(variance * unit * unit, largest) for variance in (total, noise, weights, residual)]
    return [*places, min(sd * unit, largest), *variances]


@dataclass(frozen=True, eq=False)
class RequestedRows:
    """The valid rows (n, d) of a request of N `rows`, and the faults of the others.

    `noise_sd` (n,) where the request has it. `places` are the rows in the request of the valid ones, and after them of
    those with unknown categories or missing values, which are `averaged`; None: all rows.
    """

    inputs: Array
    noise_sd: Array | None
    rows: int
    places: Indices | None
    faults: tuple[Fault, ...]
    averaged: AveragedRows | None = None

    @property
    def note(self) -> tuple[tuple[UnknownCategory, ...], tuple[MissingValue, ...], int]:
        """The first cells with unknown categories, the first missing values, and the number of rows with any."""
        averaged = self.averaged
        return ((), (), 0) if averaged is None else (averaged.cells, averaged.nulls, len(averaged.places))

    def parts(self, ready: AnyReady) -> "Iterator[tuple[slice[int, int, None], Prediction, Array | None]]":
        """Yield parts of the rows with their predictions; at least one, so that an empty result has all members."""
        for first in range(0, len(self.inputs) or 1, ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, len(self.inputs)))
            if first:
                check_cancelled()
            part, support = ready.predict(self.inputs[some], None if self.noise_sd is None else self.noise_sd[some])
            yield some, part, support
        if self.averaged is not None:
            first = len(self.inputs)
            for places, part, support in self.averaged.predictions(ready, ROWS_AT_ONCE):
                yield slice(first, first + len(places)), part, support
                first += len(places)

    def spread(self, values: Array) -> Array:
        """Return values (n, ...) at the places of their rows, NaN elsewhere."""
        if self.places is None:
            return values
        spread = np.full((self.rows, *values.shape[1:]), np.nan)
        spread[self.places] = values
        return spread

    def joined(self, parts: Sequence[Array]) -> Array:
        """Return the joined parts, at the places of their rows."""
        return self.spread(joined(parts))

    def support(self, parts: Sequence[Array | None]) -> Array | None:
        """Return the joined supports; None where a part has none."""
        known = [part for part in parts if part is not None]
        return self.joined(known) if len(known) == len(parts) else None

    def explanation(
        self, ready: AnyReady, target: EncodedTarget, options: PredictOptions, *, latents: Indices | None = None
    ) -> Explanation | None:
        """Return the explanation of the valid rows, at their places.

        `latents` (n,) are the explained ones where a row has several.
        """
        if options.explain is None:
            return None
        n, averaged = len(self.inputs), self.averaged
        of = None if latents is None else latents[:n]
        found = contributions(ready, self.inputs, options.explain, latents=of, noise_sd=self.noise_sd)
        if averaged is not None:
            of = None if latents is None else latents[n:]
            found = found.followed_by(averaged.contributions(ready, options.explain, COMPLETED_AT_ONCE, of))
        explanation = Explanation.of(target, found)
        return explanation if self.places is None else explanation.spread(self.places, self.rows)


def valid_rows(
    distribution: InputDistribution,
    block: Block,
    inputs: Array,
    noise_sd: Array | None,
    faults: Sequence[Fault],
    options: PredictOptions,
) -> RequestedRows:
    """Return the valid rows of a request with faults: a row with a fault is NaN throughout, and the model gets only the
    others. Rows with unknown categories and missing values are averaged, where the options permit it."""
    sound = np.isfinite(inputs[:, 0])
    if noise_sd is not None:
        sound &= np.isfinite(noise_sd)
    averaged = AveragedRows.of(distribution, block, faults, noise_sd, options) if faults else None
    places = np.flatnonzero(sound)
    inputs, noise = inputs[places], None if noise_sd is None else noise_sd[places]
    faults = sorted(faults, key=lambda fault: fault.row or 0)
    if averaged is not None:
        rows = {*averaged.places.tolist()}
        faults = [fault for fault in faults if fault.row not in rows]
        return RequestedRows(inputs, noise, len(sound), np.append(places, averaged.places), tuple(faults), averaged)
    return RequestedRows(inputs, noise, len(sound), places, tuple(faults))


def joined(parts: Sequence[Array]) -> Array:
    """Return the parts one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


MAX_ROWS_TOGETHER = 1_000
"""The most rows with a covariance, which has the square of their number of entries in one response."""

MAX_AVERAGED_TOGETHER = 64
"""The most averaged rows with a covariance, each of which is 64 rows."""

COMPLETED_AT_ONCE = 1_024
"""The number of these of which contributions or covariances are computed at once."""


@dataclass(frozen=True, eq=False)
class SupervisedModel(PredictiveModel):
    """A predictor with its factorised model `ready`.

    `class_rows` are the numbers of training rows by class, `distribution` is that of their inputs, `inputs` the
    names in the user's order.
    """

    predictor: SupervisedPredictor
    ready: AnyReady
    class_rows: tuple[ClassRows, ...]
    one_row: OneRow | None
    distribution: InputDistribution
    inputs: tuple[str, ...]
    measured_misses: tuple[float, ...] = ()
    positive_class: Label | None = None

    @classmethod
    def of(cls, predictor: SupervisedPredictor, report: SupervisedReport) -> "SupervisedModel":
        """Factorise the model once for all predictions."""
        ready = ready_of(predictor.learned)
        misses = tuple(1.0 - found["coverage_95"] for found in report.metrics.values() if "coverage_95" in found)
        histograms = () if report.baseline is None else report.baseline.inputs
        distribution = InputDistribution(predictor.encoding, report.input_rows, tuple(histograms))
        inputs = tuple(column.name for column in report.plan.inputs)
        positive = report.plan.positive_class
        return cls(predictor, ready, report.class_rows, one_row(ready), distribution, inputs, misses, positive)

    @property
    def noise_column(self) -> str | None:
        """The column that may have the noise sd of each row; None where the model has one for all."""
        return self.predictor.encoding.target.noise_column

    @property
    def target(self) -> tuple[str, ColumnKind]:
        """The name and the kind of the target's column."""
        target = self.predictor.encoding.target
        return target.name, target.kind

    @property
    def bytes(self) -> int:
        """Return about the memory of its arrays in bytes."""
        rows = self.ready.model.process.bytes if isinstance(self.ready, ReadyLocal) else 0
        return rows + sum(map(_bytes, ready_members(self.ready)))

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the target."""
        return self.predictor.encoding.target.classes

    @property
    def encoded_numbers(self) -> tuple[str, ...]:
        """The inputs that are numbers, in the order of the encoding."""
        return self.predictor.encoding.layout.names

    def expansion(self) -> VersionExpansion:
        """Return the mean of a number, or the latent function of two classes, as a sum of Gaussians."""
        return model_expansion(self.predictor, self.inputs)

    def evaluate_block(self, block: Block) -> LabelledBlock:
        """Return predictions for a block with the column of the target, and the targets."""
        return labelled_block(self.predictor.encoding, self.distribution, self.ready, block)

    def score_block(self, block: Block) -> ScoredRows:
        """Return the scores of predictions for a block with the column of the target."""
        return scored_rows(self.predictor.encoding, self.distribution, self.ready, block)

    def predict(self, block: Block, options: PredictOptions) -> RegressionPrediction | ClassificationPrediction:
        """Predict a block's N rows; raises InvalidRequestError for a covariance or decisions that it does not have."""
        if options.components is not None:
            refuse_all(PredictOptions(components=options.components), "A model with a target")
        encoding, deciding = self.predictor.encoding, options.deciding
        classes = encoding.target.classes
        rule = None if deciding is None else rule_of(deciding, classes, self.class_rows)
        inputs, faults = encode_known(encoding, block)
        if self.one_row is not None and len(inputs) == 1 and options.is_usual and not faults:
            return self._of_one_row(inputs, options.interval, self.one_row)
        noise_sd, wrong = encode_noise(encoding.target, block)
        requested = RequestedRows(inputs, noise_sd, len(inputs), None, faults)
        if faults or wrong:
            requested = valid_rows(self.distribution, block, inputs, noise_sd, (*faults, *wrong), options)
        return _classes(self, requested, options, rule) if classes else _reals(self, requested, options)

    def average_function(self, block: Block, groups: int) -> AveragedFunction | None:
        """Return the averages of a block of valid rows; None for a latent for each class, and nearest neighbours."""
        learned, target = self.predictor.learned, self.predictor.encoding.target
        if not isinstance(self.ready, Ready | ReadyPool) or has_latent_per_class(learned):
            return None
        inputs, _ = encode_inputs(self.predictor.encoding, block)
        averaged, variance = averages(self.ready, inputs, groups)
        with np.errstate(over="ignore"):
            mean = averaged * target.latent_unit + target.latent_shift
            sd = np.sqrt(variance) * target.latent_unit
        return AveragedFunction(
            mean,
            sd,
            is_mean=isinstance(likelihood_of(learned), GaussianNoise | StudentT),
            is_pool=isinstance(self.ready, ReadyPool),
            degrees_of_freedom=degrees_of_freedom_of(learned),
        )

    def _of_one_row(self, inputs: Array, interval: float, one_row: OneRow) -> RegressionPrediction:
        """Predict one row x (1, d) on a fast path: without it a one-row request costs 1.6 times the CPU in process."""
        mean, noise, weights, residual, support = one_row(inputs[0])
        tails = degrees_of_freedom_of(self.predictor.learned)
        figures = figures_of_one(self.predictor.encoding.target, mean, noise, weights, residual, interval, tails)
        each = np.array([*figures, nan if support is None else support])[:, None]
        return regression_of(each[:FIGURES], None if support is None else each[FIGURES])


def _bytes(ready: Ready) -> int:
    """Return the memory of one model's arrays in bytes."""
    model = ready.model
    arrays = [model.mean, model.covariance, model.alpha, model.gamma, ready.root, ready.products]
    kernels = [functions for functions in model.functions if isinstance(functions, KernelFunctions)]
    if ready.whitening is not None:
        arrays.append(ready.whitening.lower)
    if ready.augmented is not None:
        arrays += [ready.augmented.whitened, ready.augmented.reached]
        kernels.append(ready.augmented.functions)
    for functions in kernels:
        arrays += [functions.centres, functions.centres]  # a second time as scaled for the kernel
    return sum(array.nbytes for array in arrays) + (0 if ready.noise is None else _bytes(ready.noise))


def _classes(
    known: SupervisedModel, requested: RequestedRows, options: PredictOptions, rule: DecisionRule | None
) -> ClassificationPrediction:
    if options.covariance:
        raise _refused("Classes have no covariance: request it from a model of numbers.")
    reported = [*requested.parts(known.ready)]
    parts = [part for _, part, _ in reported if isinstance(part, ClassPrediction)]
    probabilities = joined([part.probabilities for part in parts])
    decisions = None
    if rule is not None:
        probabilities, decisions = rule.apply(probabilities)
    latents = most_probable(probabilities) if has_latent_per_class(known.predictor.learned) else None
    cells, nulls, rows_averaged = requested.note
    return ClassificationPrediction(
        classes=known.predictor.encoding.target.classes,
        probabilities=requested.spread(probabilities),
        latent_mean=requested.joined([part.latent_mean for part in parts]),
        latent_variance=requested.joined([part.latent_variance for part in parts]),
        support=requested.support([support for _, _, support in reported]),
        explanation=requested.explanation(known.ready, known.predictor.encoding.target, options, latents=latents),
        decisions=None if decisions is None else _spread(decisions, requested),
        faults=requested.faults,
        unknown_categories=cells,
        nulls=nulls,
        rows_averaged=rows_averaged,
    )


def _spread(decisions: Decisions, requested: RequestedRows) -> Decisions:
    """Return the decisions of the valid rows at their places."""
    places = requested.places
    if places is None:
        return decisions
    chosen, rejected = np.zeros(requested.rows, np.intp), np.zeros(requested.rows, np.bool_)
    chosen[places], rejected[places] = decisions.chosen, decisions.rejected
    return Decisions(chosen, requested.spread(decisions.expected_cost), rejected)


def _reals(known: SupervisedModel, requested: RequestedRows, options: PredictOptions) -> RegressionPrediction:
    target = known.predictor.encoding.target
    figures = np.empty((FIGURES, requested.rows if requested.places is None else len(requested.places)))
    supports: list[Array | None] = []
    for some, part, support in requested.parts(known.ready):
        assert isinstance(part, NumberPrediction)
        figures[:, some] = figures_of(target, part, options.interval)
        supports.append(support)
    if requested.places is not None:
        figures = np.array([requested.spread(figure) for figure in figures])
    covariance = _covariance(known, requested, figures[TOTAL]) if options.covariance else None
    explanation = requested.explanation(known.ready, known.predictor.encoding.target, options)
    found = regression_of(figures, requested.support(supports), covariance, explanation, requested.faults)
    cells, nulls, rows_averaged = requested.note
    return (
        replace(found, unknown_categories=cells, nulls=nulls, rows_averaged=rows_averaged) if rows_averaged else found
    )


def _covariance(known: SupervisedModel, requested: RequestedRows, variance: Array) -> Array:
    """Return the covariance (N, N), in the user's units squared, of rows with these variances (N,)."""
    likelihood = likelihood_of(known.predictor.learned)
    if not isinstance(likelihood, GaussianNoise):
        raise _refused(f'Expected a model with Gaussian noise for a covariance, got "{likelihood.type}".')
    if isinstance(known.ready, ReadyLocal):
        raise _refused("A nearest-neighbour process has no covariance of rows: each has its own neighbours.")
    rows = requested.rows
    if rows > MAX_ROWS_TOGETHER:
        raise _refused(f"Expected at most {MAX_ROWS_TOGETHER:,} rows for a covariance, got {rows:,}.")
    if requested.averaged is None:
        _, found = joint(known.ready, requested.inputs, requested.noise_sd)
    else:
        found = _averaged_covariance(known.ready, requested, requested.averaged)
    covariance = np.maximum(user_variance(known.predictor.encoding.target, found), -MAX_FLOAT)
    if requested.places is None:
        return covariance
    spread = np.full((rows, rows), np.nan)
    spread[np.ix_(requested.places, requested.places)] = covariance
    spread.flat[:: rows + 1] = variance
    return spread


def _averaged_covariance(ready: AnyReady, requested: RequestedRows, averaged: AveragedRows) -> Array:
    """Return the covariance (n, n) of the valid rows and then of the averaged ones, of which variances differ."""
    if len(averaged.places) > MAX_AVERAGED_TOGETHER:
        expected = f"Expected at most {MAX_AVERAGED_TOGETHER} rows with missing values or unknown categories"
        raise _refused(f"{expected} for a covariance, got {len(averaged.places):,}.")
    n = len(requested.inputs)
    known = CompletedRows(slice(0, n), requested.inputs, np.ones((n, 1)), requested.noise_sd, is_sample=False)
    return covariance_of(ready, [*([known] if n else []), *averaged.completed(COMPLETED_AT_ONCE)])


def _refused(detail: str) -> InvalidRequestError:
    return InvalidRequestError(detail, [Fault(detail, pointer="/covariance")])


def model_expansion(predictor: SupervisedPredictor, inputs: Sequence[str]) -> VersionExpansion:
    """Return the mean of a number, or the latent function of two classes, by `inputs` in their order.

    Raises ConflictError where it is no sum.
    """
    encoding, model = predictor.encoding, predictor.learned
    if isinstance(model, LocalModel):
        raise no_expansion("it predicts from the rows nearest to each")
    if isinstance(model, HurdleModel):
        raise no_expansion("its mean is none under hurdle")
    if not isinstance(model, Model):
        several = 'several models predict together, of numbers with "effort": "normal", else one for each class'
        raise no_expansion(several)
    if not all(isinstance(column, EncodedNumber) and column.width == 1 for column in encoding.inputs):
        raise no_expansion("some inputs are texts, or had gaps")
    if any(isinstance(column, EncodedNumber) and column.unit for column in encoding.inputs):
        raise no_expansion("some inputs count by their logarithms")
    if not isinstance(model.likelihood, GaussianNoise | StudentT | Bernoulli):
        raise no_expansion(f"its mean is none under {model.likelihood.type}")
    shift, scale = np.array(column_units(encoding)).T
    kernels, constant, first = None, encoding.target.shift, 0
    for functions in model.functions:
        weights = model.mean[first : first + functions.size]
        first += functions.size
        match functions:
            case KernelFunctions(kernel=Gaussian(), input_map=bend) if bend.skew is None and bend.tail is None:
                if kernels is not None:
                    raise no_expansion("it has kernels of several widths")
                kernels = functions, weights
            case ConstantFunction():
                constant += encoding.target.scale * float(weights.sum())
            case _:
                raise no_expansion("it has functions other than Gaussians and a bias, or warps its inputs")
    if kernels is None:
        raise no_expansion("it is a constant")
    functions, weights = kernels
    centres = shift + scale * functions.centres
    widths = np.broadcast_to(scale * functions.input_map.widths, centres.shape)
    order = [*chain.from_iterable(columns_of(encoding, inputs))]
    return VersionExpansion(
        tuple(inputs), centres[:, order], np.array(widths[:, order]), encoding.target.scale * weights, constant
    )
