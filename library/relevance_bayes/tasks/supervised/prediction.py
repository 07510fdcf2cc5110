"""Predictions of numbers and classes: from a block of raw columns to results in the user's units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from relevance_bayes.core.joint import joint
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise
from relevance_bayes.core.local_model import ReadyLocal
from relevance_bayes.core.model import KernelFunctions
from relevance_bayes.core.one_row import OneRow, one_row
from relevance_bayes.core.partial_dependence import averages
from relevance_bayes.core.pool import AnyReady, ReadyPool, has_latent_per_class, likelihood_of, ready_members, ready_of
from relevance_bayes.core.prediction import ClassPrediction, NumberPrediction, Ready
from relevance_bayes.core.types import Array
from relevance_bayes.documents.models import SupervisedPredictor, SupervisedReport
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import (
    encode_inputs,
    encode_known,
    encode_noise,
    user_variance,
)
from relevance_bayes.tasks.decision_rule import DecisionRule, rule_of
from relevance_bayes.tasks.decisions import Decisions, most_probable
from relevance_bayes.tasks.options import PredictOptions, refuse_all
from relevance_bayes.tasks.prediction import AveragedFunction, LabelledBlock, PredictiveModel, VersionExpansion
from relevance_bayes.tasks.scored import ScoredRows
from relevance_bayes.tasks.supervised.evaluation import labelled_block
from relevance_bayes.tasks.supervised.expansion import model_expansion
from relevance_bayes.tasks.supervised.figures import FIGURES, MAX_FLOAT, figures_of, figures_of_one, regression_of
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.requested_rows import RequestedRows, joined, valid_rows
from relevance_bayes.tasks.supervised.scoring import scored_rows
from relevance_bayes.tasks.supervised.unknown_categories import category_frequencies
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.reports import ClassRows
from relevance_bayes.types.values import ColumnKind, Label

MAX_ROWS_TOGETHER = 1_000
"""The most rows with a covariance, which has the square of their number of entries in one response."""


@dataclass(frozen=True, eq=False)
class SupervisedModel(PredictiveModel):
    """A predictor with its factorised model `ready`.

    `class_rows` are the numbers of training rows by class, `frequencies` those of `category_frequencies`.
    """

    predictor: SupervisedPredictor
    ready: AnyReady
    class_rows: tuple[ClassRows, ...]
    one_row: OneRow | None
    frequencies: Mapping[str, Array]
    measured_misses: tuple[float, ...] = ()

    @classmethod
    def of(cls, predictor: SupervisedPredictor, report: SupervisedReport) -> "SupervisedModel":
        """Factorise the model once for all predictions."""
        ready = ready_of(predictor.learned)
        misses = tuple(1.0 - found["coverage_95"] for found in report.metrics.values() if "coverage_95" in found)
        histograms = () if report.baseline is None else report.baseline.inputs
        frequencies = category_frequencies(predictor.encoding, histograms)
        return cls(predictor, ready, report.class_rows, one_row(ready), frequencies, misses)

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
        return labelled_block(self.predictor.encoding, self.frequencies, self.ready, block)

    def score_block(self, block: Block) -> ScoredRows:
        """Return the scores of predictions for a block with the column of the target."""
        return scored_rows(self.predictor.encoding, self.frequencies, self.ready, block)

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
            requested = valid_rows(encoding, self.frequencies, block, inputs, noise_sd, (*faults, *wrong), options)
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
    cells, rows_averaged = requested.note
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
    covariance = _covariance(known, requested) if options.covariance else None
    explanation = requested.explanation(known.ready, known.predictor.encoding.target, options)
    found = regression_of(figures, requested.support(supports), covariance, explanation, requested.faults)
    cells, rows_averaged = requested.note
    return replace(found, unknown_categories=cells, rows_averaged=rows_averaged) if rows_averaged else found


def _covariance(known: SupervisedModel, requested: RequestedRows) -> Array:
    """Return the covariance (N, N), in the user's units squared."""
    likelihood = likelihood_of(known.predictor.learned)
    if not isinstance(likelihood, GaussianNoise):
        raise _refused(f'Expected a model with Gaussian noise for a covariance, got "{likelihood.type}".')
    if isinstance(known.ready, ReadyLocal):
        raise _refused("A nearest-neighbour process has no covariance of rows: each has its own neighbours.")
    rows = requested.rows
    if rows > MAX_ROWS_TOGETHER:
        raise _refused(f"Expected at most {MAX_ROWS_TOGETHER:,} rows for a covariance, got {rows:,}.")
    _, found = joint(known.ready, requested.inputs, requested.noise_sd)
    covariance = np.maximum(user_variance(known.predictor.encoding.target, found), -MAX_FLOAT)
    if requested.places is None:
        return covariance
    spread = np.full((rows, rows), np.nan)
    spread[np.ix_(requested.places, requested.places)] = covariance
    return spread


def _refused(detail: str) -> InvalidRequestError:
    return InvalidRequestError(detail, [Fault(detail, pointer="/covariance")])
