"""From a document to its version, with arrays of consistent sizes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.augmentation import Augmentation
from relevance_bayes.core.components import Components
from relevance_bayes.core.images import ImageCode
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.core.model import LogNoise, Model
from relevance_bayes.core.per_class import MIN_CLASSES, PerClass
from relevance_bayes.core.pool import LearnedModel, Pool, n_functions
from relevance_bayes.core.types import Array
from relevance_bayes.documents.earlier_versions import earlier_models, with_evidence
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.documents.functions import functions_of, kernel_functions_of, wavelets_of
from relevance_bayes.documents.limits import refuse_large
from relevance_bayes.documents.local import local_model_of
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ComponentsPredictor,
    ImagePredictor,
    Predictor,
    SupervisedPredictor,
)
from relevance_bayes.documents.reports import approximation_report, components_report, supervised_report
from relevance_bayes.documents.schema import (
    ApproximationContent,
    ApproximationDocument,
    AugmentationPart,
    CategoryInput,
    ComponentsContent,
    ComponentsDocument,
    ComponentsPart,
    Content,
    ImageContent,
    ImagePart,
    LocalPart,
    LogNoisePart,
    ModelPart,
    NumberInput,
    PerClassPart,
    PoolPart,
    SupervisedContent,
    SupervisedDocument,
    TargetPart,
    TermsPart,
    VersionDocument,
)
from relevance_bayes.documents.sizes import matrix, vector, wrong
from relevance_bayes.documents.values import json_members
from relevance_bayes.plans.approximation import MAX_TERMS
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
)

MAX_LOG_NOISE = 600.0
"""The maximum log noise variance, in the target's encoded units, whose exponential is a finite float64."""


def version_of(document: VersionDocument) -> ExportedVersion:
    """Return the version in a document; raises InvalidRequestError."""
    refuse_large(document)
    named = document.source.model, document.source.version, document.source.created_at
    match document:
        case SupervisedDocument():
            return _exported(document, named)
        case ApproximationDocument():
            approximation = _approximation(document)
            return ExportedApproximation(*named, approximation_report(document), approximation)
        case ComponentsDocument():
            components = _of_components(document)
            return ExportedComponents(*named, components_report(document), components)


def predictor_of(content: Content) -> Predictor:
    """Return the predictor of a stored document; raises InvalidRequestError for inconsistent arrays."""
    match content:
        case SupervisedContent():
            return _supervised(content)
        case ApproximationContent():
            return _approximation(content)
        case ImageContent():
            return ImagePredictor(_inputs(content), _image(content.model))
        case ComponentsContent():
            return _of_components(content)


def _exported(document: SupervisedDocument, named: tuple[str, int, datetime]) -> ExportedSupervised:
    predictor, earlier = _supervised(document), None
    target, learned = predictor.encoding.target, predictor.learned
    if document.format_version == 1:
        earlier = earlier_models(learned, target)
        predictor = replace(predictor, learned=with_evidence(learned, earlier, json_members(document.report)))
    report = supervised_report(document, target, n_functions(learned), earlier)
    return ExportedSupervised(*named, report, predictor)


def _supervised(content: SupervisedContent) -> SupervisedPredictor:
    encoding = Encoding(tuple(map(_input, content.inputs)), _target(content.target))
    return SupervisedPredictor(encoding, _learned(content.model, encoding.width, len(encoding.target.classes)))


def _approximation(content: ApproximationContent) -> ApproximationPredictor:
    encoding = _inputs(content)
    return ApproximationPredictor(encoding, _terms(content.model, encoding.width))


def _of_components(content: ComponentsContent) -> ComponentsPredictor:
    encoding = _inputs(content)
    found = _components(content.model, encoding.width)
    return ComponentsPredictor(encoding, found, np.asarray(content.model.log_densities, np.float64))


def _inputs(content: Content) -> InputEncoding:
    return InputEncoding(tuple(map(_input, content.inputs)))


def _input(column: NumberInput | CategoryInput) -> EncodedInput:
    if isinstance(column, NumberInput):
        return EncodedNumber(
            column.name, column.kind, column.shift, column.scale, column.fill, indicator=column.indicator
        )
    fill, shares = (None if one is None else tuple(one) for one in (column.fill, column.shares))
    return EncodedCategory(column.name, tuple(column.categories), fill, column.indicator, shares)


def _target(target: TargetPart) -> EncodedTarget:
    return EncodedTarget(
        target.name,
        target.kind,
        target.shift,
        target.scale,
        tuple(target.classes),
        logarithmic=target.logarithmic,
        noise_column=target.noise_column,
    )


def _learned(part: ModelPart | PoolPart | PerClassPart | LocalPart, inputs: int, classes: int) -> LearnedModel:
    match part:
        case LocalPart():
            trend = None if part.trend is None else _model(part.trend, inputs, classes, "/model/trend")
            return local_model_of(part, inputs, trend)
        case ModelPart():
            return _model(part, inputs, classes, "/model")
        case PoolPart():
            return _pool(part, inputs, classes)
        case PerClassPart():
            return _per_class(part, inputs, classes)


def _per_class(part: PerClassPart, inputs: int, classes: int) -> PerClass:
    if len(part.members) != classes or classes < MIN_CLASSES:
        expected = f"Expected a model for each of the target's classes, {MIN_CLASSES} at least"
        raise wrong("/model/members", f"{expected}; got {len(part.members)} for {classes}.")
    members = [_model(one, inputs, classes, f"/model/members/{place}") for place, one in enumerate(part.members)]
    return PerClass(tuple(members), part.likelihood)


def _pool(part: PoolPart, inputs: int, classes: int) -> Pool:
    weights = vector(part.weights, len(part.members), "/model/weights")
    if not np.isclose(weights.sum(), 1.0):
        raise wrong("/model/weights", f"Expected weights of a pool that sum to 1, got {weights.sum():g}.")
    members = [_model(one, inputs, classes, f"/model/members/{place}") for place, one in enumerate(part.members)]
    return Pool(tuple(members), weights)


def _model(part: ModelPart, inputs: int, classes: int, where: str) -> Model:
    named = enumerate(part.functions)
    functions = tuple(functions_of(one, inputs, f"{where}/functions/{place}") for place, one in named)
    size = sum(one.size for one in functions)
    latents = classes if part.likelihood.latents > 1 else None
    return Model(
        likelihood=part.likelihood,
        functions=functions,
        mean=_mean(part.mean, size, latents, f"{where}/mean"),
        covariance=matrix(part.covariance, (size, size), f"{where}/covariance"),
        alpha=vector(part.alpha, size, f"{where}/alpha"),
        gamma=vector(part.gamma, size, f"{where}/gamma"),
        noise_sd=part.noise_sd,
        evidence=_evidence(part, where),
        inputs=inputs,
        rows=part.rows,
        candidates=part.candidates,
        termination=part.termination,
        signal_variance=part.signal_variance,
        last_gain=part.last_gain,
        next_gain=part.next_gain,
        augmentation=None if part.augmentation is None else _augmentation(part.augmentation, inputs, where),
        jitter=part.jitter,
        log_noise=None if part.log_noise is None else _log_noise(part.log_noise, inputs, f"{where}/log_noise"),
    )


def _evidence(part: ModelPart, where: str) -> LogEvidence:
    """Return the evidence; that of format version 1 is separated later, with its report."""
    if part.evidence is not None:
        return LogEvidence(**vars(part.evidence))
    if part.log_marginal_likelihood is None:
        raise wrong(f"{where}/evidence", "This member is required.")
    return LogEvidence(part.log_marginal_likelihood, "exact")


def _log_noise(part: LogNoisePart, inputs: int, where: str) -> LogNoise:
    if part.model.log_noise is not None:
        raise wrong(f"{where}/model/log_noise", "Expected no noise of the noise.")
    if part.model.likelihood.type != "log_variance":
        raise wrong(f"{where}/model/likelihood", 'Expected "log_variance", that of the noise.')
    if not part.min <= part.max <= MAX_LOG_NOISE:
        raise wrong(f"{where}/max", f"Expected at least `min` and at most {MAX_LOG_NOISE:g}.")
    return LogNoise(_model(part.model, inputs, 0, f"{where}/model"), part.min, part.max)


def _mean(mean: Sequence[float] | Sequence[list[float]] | Array, size: int, latents: int | None, where: str) -> Array:
    if isinstance(mean, np.ndarray):
        return mean
    rows, numbers = _rows_and_numbers(mean)
    if latents is None:
        if rows:
            raise wrong(where, "Expected a weight for each function, got a list of lists.")
        return vector(numbers, size, where)
    if numbers:
        raise wrong(where, f"Expected a weight for each function and each of {latents} classes.")
    return matrix(rows, (size, latents), where)


def _rows_and_numbers(mean: Sequence[float] | Sequence[list[float]]) -> tuple[list[list[float]], list[float]]:
    rows, numbers = list[list[float]](), list[float]()
    for one in mean:
        if isinstance(one, list):
            rows.append(one)
        else:
            numbers.append(one)
    return rows, numbers


def _augmentation(part: AugmentationPart, inputs: int, where: str) -> Augmentation:
    where = f"{where}/augmentation"
    functions = kernel_functions_of(part.functions, inputs, f"{where}/functions")
    known = part.precisions
    precisions = None if known is None else vector(known, functions.size, f"{where}/precisions")
    return Augmentation(functions, part.spread, precisions)


def _terms(part: TermsPart, inputs: int) -> Expansion:
    size = len(part.coefficients)
    if not inputs:
        raise wrong("/inputs", "Expected at least one input.")
    if not 1 <= size <= MAX_TERMS:
        raise wrong("/model/coefficients", f"Expected 1 to {MAX_TERMS:,} coefficients, got {size:,}.")
    return Expansion(
        matrix(part.centres, (size, inputs), "/model/centres"),
        vector(part.coefficients, size, "/model/coefficients"),
        matrix(part.widths, (size, inputs), "/model/widths"),
        part.constant,
    )


def _image(part: ImagePart) -> ImageCode:
    size = len(part.weights)
    return ImageCode(
        height=part.height,
        width=part.width,
        constant=part.constant,
        wavelets=wavelets_of(part.wavelets, 2, "/model/wavelets"),
        weights=vector(part.weights, size, "/model/weights"),
        sds=vector(part.sds, size, "/model/sds"),
        alpha=vector(part.alpha, size, "/model/alpha"),
        error=part.error,
        noise_sd=part.noise_sd,
        candidates=part.candidates,
        path=tuple((one.functions, one.error) for one in part.path),
        termination=part.termination,
    )


def _components(part: ComponentsPart, inputs: int) -> Components:
    where = "/model/functions"
    functions = kernel_functions_of(part.functions, inputs, where)
    size, kernel = functions.size, functions.kernel
    if not isinstance(kernel, Covariance):
        raise wrong(where, "Expected one kernel without terms.")
    return Components(
        kernel,
        functions.input_map,
        functions.centres,
        functions.rows,
        vector(part.weights, size, "/model/weights"),
        part.noise_variance,
        part.log_marginal_likelihood,
    )
