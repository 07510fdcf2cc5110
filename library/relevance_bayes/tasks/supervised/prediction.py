"""Predictions of numbers and classes: from a block of raw columns to results in the user's units."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from relevance_bayes.core.contributions import contributions
from relevance_bayes.core.joint import joint
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise
from relevance_bayes.core.local_model import ReadyLocal
from relevance_bayes.core.model import KernelFunctions
from relevance_bayes.core.one_row import OneRow, one_row
from relevance_bayes.core.partial_dependence import averages
from relevance_bayes.core.pool import AnyReady, ReadyPool, has_latent_per_class, likelihood_of, ready_members, ready_of
from relevance_bayes.core.prediction import ClassPrediction, NumberPrediction, Prediction, Ready
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.documents.models import SupervisedPredictor, SupervisedReport
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import (
    encode_inputs,
    encode_noise,
    user_variance,
)
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.decision_rule import DecisionRule, rule_of
from relevance_bayes.tasks.decisions import Decisions, most_probable
from relevance_bayes.tasks.options import PredictOptions, refuse_all
from relevance_bayes.tasks.prediction import AveragedFunction, LabelledBlock, PredictiveModel, VersionExpansion
from relevance_bayes.tasks.scored import ScoredRows
from relevance_bayes.tasks.supervised.evaluation import ROWS_AT_ONCE, labelled_block
from relevance_bayes.tasks.supervised.expansion import model_expansion
from relevance_bayes.tasks.supervised.explanation import Explanation
from relevance_bayes.tasks.supervised.figures import FIGURES, MAX_FLOAT, figures_of, figures_of_one, regression_of
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.scoring import scored_rows
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.reports import ClassRows
from relevance_bayes.types.values import ColumnKind, Label

MAX_ROWS_TOGETHER = 1_000
"""The most rows with a covariance, which has the square of their number of entries in one response."""


@dataclass(frozen=True, eq=False)
class SupervisedModel(PredictiveModel):
    """A predictor with its factorised model `ready`; `class_rows` are the numbers of training rows by class."""

    predictor: SupervisedPredictor
    ready: AnyReady
    class_rows: tuple[ClassRows, ...]
    one_row: OneRow | None
    measured_misses: tuple[float, ...] = ()

    @classmethod
    def of(cls, predictor: SupervisedPredictor, report: SupervisedReport) -> "SupervisedModel":
        """Factorise the model once for all predictions."""
        ready = ready_of(predictor.learned)
        misses = tuple(1.0 - found["coverage_95"] for found in report.metrics.values() if "coverage_95" in found)
        return cls(predictor, ready, report.class_rows, one_row(ready), misses)

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

    def expansion(self) -> VersionExpansion:
        """Return the mean of a number, or the latent function of two classes, as a sum of Gaussians."""
        return model_expansion(self.predictor)

    def evaluate_block(self, block: Block) -> LabelledBlock:
        """Return predictions for a block with the column of the target, and the targets."""
        return labelled_block(self.predictor.encoding, self.ready, block)

    def score_block(self, block: Block) -> ScoredRows:
        """Return the scores of predictions for a block with the column of the target."""
        return scored_rows(self.predictor.encoding, self.ready, block)

    def predict(self, block: Block, options: PredictOptions) -> RegressionPrediction | ClassificationPrediction:
        """Predict a block's N rows; raises InvalidRequestError for a covariance or decisions that it does not have."""
        if options.components is not None:
            refuse_all(PredictOptions(components=options.components), "A model with a target")
        encoding, deciding = self.predictor.encoding, options.deciding
        classes = encoding.target.classes
        rule = None if deciding is None else rule_of(deciding, classes, self.class_rows)
        inputs, faults = encode_inputs(encoding, block)
        if self.one_row is not None and len(inputs) == 1 and options.is_usual and not faults:
            return self._of_one_row(inputs, options.interval, self.one_row)
        noise_sd, wrong = encode_noise(encoding.target, block)
        # A row with a fault is NaN throughout; the model gets only the valid rows.
        sound = np.isfinite(inputs[:, 0]) if faults or wrong else None
        if wrong and sound is not None and noise_sd is not None:
            sound &= np.isfinite(noise_sd)
            faults = tuple(sorted((*faults, *wrong), key=lambda fault: fault.row or 0))
        if sound is not None:
            inputs, noise_sd = inputs[sound], None if noise_sd is None else noise_sd[sound]
        requested = _Requested(inputs, noise_sd, sound, faults)
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
        )

    def _of_one_row(self, inputs: Array, interval: float, one_row: OneRow) -> RegressionPrediction:
        """Predict one row x (1, d) on a fast path: without it a one-row request costs 1.6 times the CPU in process."""
        mean, noise, weights, residual, support = one_row(inputs[0])
        figures = figures_of_one(self.predictor.encoding.target, mean, noise, weights, residual, interval)
        each = np.array([*figures, nan if support is None else support])[:, None]
        return regression_of(each[:FIGURES], None if support is None else each[FIGURES])


def _bytes(ready: Ready) -> int:
    """Return the memory of one model's arrays in bytes."""
    model = ready.model
    arrays = [model.mean, model.covariance, model.alpha, model.gamma, ready.lower, ready.products]
    kernels = [functions for functions in model.functions if isinstance(functions, KernelFunctions)]
    if ready.whitening is not None:
        arrays.append(ready.whitening.lower)
    if ready.augmented is not None:
        arrays += [ready.augmented.whitened, ready.augmented.reached]
        kernels.append(ready.augmented.functions)
    for functions in kernels:
        arrays += [functions.centres, functions.centres]  # a second time as scaled for the kernel
    return sum(array.nbytes for array in arrays) + (0 if ready.noise is None else _bytes(ready.noise))


@dataclass(frozen=True, eq=False)
class _Requested:
    """The valid rows (n, d) of a request, their mask (None: all rows), and the faults of the others.

    `noise_sd` (n,) where the request has it.
    """

    inputs: Array
    noise_sd: Array | None
    sound: Mask | None
    faults: tuple[Fault, ...]

    def parts(self, ready: AnyReady) -> "Iterator[tuple[slice[int, int, None], Prediction, Array | None]]":
        """Yield parts of the rows with their predictions; at least one, so that an empty result has all members."""
        for first in range(0, len(self.inputs) or 1, ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            if first:
                check_cancelled()
            part, support = ready.predict(self.inputs[some], None if self.noise_sd is None else self.noise_sd[some])
            yield some, part, support

    def joined(self, parts: Sequence[Array | None]) -> Array | None:
        """Return the joined parts; None where a part is."""
        known = [part for part in parts if part is not None]
        return _joined(known, self.sound) if len(known) == len(parts) else None

    def explanation(
        self, known: SupervisedModel, options: PredictOptions, *, latents: Indices | None = None
    ) -> Explanation | None:
        """Return the explanation of the valid rows, at their places.

        `latents` (n,) are the explained ones where a row has several.
        """
        if options.explain is None:
            return None
        found = contributions(known.ready, self.inputs, options.explain, latents=latents, noise_sd=self.noise_sd)
        explanation = Explanation.of(known.predictor.encoding.target, found)
        return explanation if self.sound is None else explanation.spread(self.sound)


def _classes(
    known: SupervisedModel, requested: _Requested, options: PredictOptions, rule: DecisionRule | None
) -> ClassificationPrediction:
    if options.covariance:
        raise _refused("Classes have no covariance: request it from a model of numbers.")
    reported = [*requested.parts(known.ready)]
    parts = [part for _, part, _ in reported if isinstance(part, ClassPrediction)]
    probabilities = _joined([part.probabilities for part in parts], None)
    decisions = None
    if rule is not None:
        probabilities, decisions = rule.apply(probabilities)
    latents = most_probable(probabilities) if has_latent_per_class(known.predictor.learned) else None
    return ClassificationPrediction(
        classes=known.predictor.encoding.target.classes,
        probabilities=_joined([probabilities], requested.sound),
        latent_mean=_joined([part.latent_mean for part in parts], requested.sound),
        latent_variance=_joined([part.latent_variance for part in parts], requested.sound),
        support=requested.joined([support for _, _, support in reported]),
        explanation=requested.explanation(known, options, latents=latents),
        decisions=None if decisions is None else _spread(decisions, requested.sound),
        faults=requested.faults,
    )


def _spread(decisions: Decisions, sound: Mask | None) -> Decisions:
    """Return the decisions of the valid rows at their places."""
    if sound is None:
        return decisions
    chosen, rejected = np.zeros(len(sound), np.intp), np.zeros(len(sound), np.bool_)
    chosen[sound], rejected[sound] = decisions.chosen, decisions.rejected
    return Decisions(chosen, _joined([decisions.expected_cost], sound), rejected)


def _reals(known: SupervisedModel, requested: _Requested, options: PredictOptions) -> RegressionPrediction:
    target = known.predictor.encoding.target
    figures = np.empty((FIGURES, len(requested.inputs)))
    supports: list[Array | None] = []
    for some, part, support in requested.parts(known.ready):
        assert isinstance(part, NumberPrediction)
        figures[:, some] = figures_of(target, part, options.interval)
        supports.append(support)
    if requested.sound is not None:
        spread = np.full((FIGURES, len(requested.sound)), np.nan)
        spread[:, requested.sound] = figures
        figures = spread
    covariance = _covariance(known, requested) if options.covariance else None
    return regression_of(
        figures, requested.joined(supports), covariance, requested.explanation(known, options), requested.faults
    )


def _covariance(known: SupervisedModel, requested: _Requested) -> Array:
    """Return the covariance (N, N), in the user's units squared."""
    likelihood = likelihood_of(known.predictor.learned)
    if not isinstance(likelihood, GaussianNoise):
        raise _refused(f'Expected a model with Gaussian noise for a covariance, got "{likelihood.type}".')
    if isinstance(known.ready, ReadyLocal):
        raise _refused("A nearest-neighbour process has no covariance of rows: each has its own neighbours.")
    rows = len(requested.inputs) if requested.sound is None else len(requested.sound)
    if rows > MAX_ROWS_TOGETHER:
        raise _refused(f"Expected at most {MAX_ROWS_TOGETHER:,} rows for a covariance, got {rows:,}.")
    _, found = joint(known.ready, requested.inputs, requested.noise_sd)
    covariance = np.maximum(user_variance(known.predictor.encoding.target, found), -MAX_FLOAT)
    if requested.sound is None:
        return covariance
    spread = np.full((rows, rows), np.nan)
    spread[np.ix_(requested.sound, requested.sound)] = covariance
    return spread


def _refused(detail: str) -> InvalidRequestError:
    return InvalidRequestError(detail, [Fault(detail, pointer="/covariance")])


def _joined(parts: Sequence[Array], sound: Mask | None) -> Array:
    """Return the joined parts, at the places of the valid rows."""
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if sound is None:
        return values
    spread = np.full((len(sound), *values.shape[1:]), np.nan)
    spread[sound] = values
    return spread
