"""From a version to its document."""

import math

import numpy as np

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.augmentation import Augmentation
from relevance_bayes.core.basis import (
    KernelFunctions,
)
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.images import ImageCode
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import InputRange, LogNoise, Model
from relevance_bayes.core.per_class import PerClass
from relevance_bayes.core.pool import LearnedModel, Pool
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.documents.functions import functions_part, kernel_part, wavelets_part
from relevance_bayes.documents.learned_schema import (
    AugmentationPart,
    EvidencePart,
    HurdlePart,
    InputRangePart,
    LocalPart,
    LogNoisePart,
    ModelPart,
    PerClassPart,
    PoolPart,
    RowsPart,
)
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ComponentsPredictor,
    ImagePredictor,
    Predictor,
    SupervisedPredictor,
)
from relevance_bayes.documents.reports import APPROXIMATIONS, COMPONENTS, supervised_members
from relevance_bayes.documents.schema import (
    FORMAT,
    FORMAT_VERSION,
    ApproximationContent,
    ApproximationDocument,
    CalendarInput,
    CategoryInput,
    ComponentsContent,
    ComponentsDocument,
    ComponentsPart,
    Content,
    EffectsInput,
    ImageContent,
    ImagePart,
    InputPart,
    LogarithmInput,
    NumberInput,
    ReachedPart,
    SourcePart,
    SupervisedContent,
    SupervisedDocument,
    TargetPart,
    TermsPart,
    VersionDocument,
)
from relevance_bayes.tables.encoding import EncodedEffects, EncodedInput, EncodedNumber, EncodedTarget, InputEncoding

BLOCK_ROWS = 4_096
"""The number of rows of a block of a nearest-neighbour process."""


def document_of(exported: ExportedVersion) -> VersionDocument:
    """Return the document of a version; numbers of its report that are not finite are left out."""
    source = SourcePart(model=exported.model, version=exported.number, created_at=exported.created_at)
    match exported:
        case ExportedSupervised():
            learned = _supervised(exported.predictor)
            return SupervisedDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=learned.task,
                inputs=learned.inputs,
                target=learned.target,
                model=learned.model,
                report=supervised_members(exported.report, exported.predictor.encoding),
            )
        case ExportedApproximation():
            terms = _approximation(exported.predictor)
            return ApproximationDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=terms.task,
                inputs=terms.inputs,
                model=terms.model,
                report=APPROXIMATIONS.reported(exported.report, exported.predictor.encoding),
            )
        case ExportedComponents():
            components = _of_components(exported.predictor)
            return ComponentsDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=components.task,
                inputs=components.inputs,
                model=components.model,
                report=COMPONENTS.reported(exported.report, exported.predictor.encoding),
            )


def content_of(predictor: Predictor) -> Content:
    """Return the content of a predictor for its document."""
    match predictor:
        case SupervisedPredictor():
            return _supervised(predictor)
        case ApproximationPredictor():
            return _approximation(predictor)
        case ImagePredictor():
            return ImageContent(task="image", inputs=_inputs(predictor.encoding), model=_image(predictor.code))
        case ComponentsPredictor():
            return _of_components(predictor)


def _supervised(predictor: SupervisedPredictor) -> SupervisedContent:
    target = predictor.encoding.target
    return SupervisedContent(
        task="classification" if target.classes else "regression",
        inputs=_inputs(predictor.encoding),
        target=_target(target),
        model=_learned(predictor.learned),
    )


def _approximation(predictor: ApproximationPredictor) -> ApproximationContent:
    return ApproximationContent(
        task="approximation", inputs=_inputs(predictor.encoding), model=_terms(predictor.expansion)
    )


def _of_components(predictor: ComponentsPredictor) -> ComponentsContent:
    return ComponentsContent(task="components", inputs=_inputs(predictor.encoding), model=_components(predictor))


def _inputs(encoding: InputEncoding) -> list[InputPart]:
    return [_input(column) for column in encoding.inputs]


def _input(column: EncodedInput) -> InputPart:
    if isinstance(column, EncodedNumber) and column.periods:
        return CalendarInput(
            name=column.name,
            kind="calendar",
            shift=column.shift,
            scale=column.scale,
            fill=column.fill,
            indicator=column.indicator,
            periods=list(column.periods),
        )
    if isinstance(column, EncodedNumber) and column.unit is not None:
        return LogarithmInput(
            name=column.name,
            kind="logarithm",
            shift=column.shift,
            scale=column.scale,
            fill=column.fill,
            indicator=column.indicator,
            unit=column.unit,
        )
    if isinstance(column, EncodedNumber):
        return NumberInput(
            name=column.name,
            kind=column.kind,
            shift=column.shift,
            scale=column.scale,
            fill=column.fill,
            indicator=column.indicator,
        )
    if isinstance(column, EncodedEffects):
        return EffectsInput(
            name=column.name,
            kind="effects",
            categories=list(column.categories),
            effects=np.array(column.effects, np.float64).reshape(len(column.effects), len(column.categories)),
            fill=column.fill,
            indicator=column.indicator,
        )
    return CategoryInput(
        name=column.name,
        kind="category",
        categories=list(column.categories),
        fill=None if column.fill is None else list(column.fill),
        indicator=column.indicator,
    )


def _target(target: EncodedTarget) -> TargetPart:
    return TargetPart(
        name=target.name,
        kind=target.kind,
        shift=target.shift,
        scale=target.scale,
        classes=list(target.classes),
        logarithmic=target.logarithmic,
        noise_column=target.noise_column,
    )


def _learned(learned: LearnedModel) -> ModelPart | PoolPart | PerClassPart | HurdlePart | LocalPart:
    match learned:
        case LocalModel():
            return _local(learned)
        case Pool(weights=weights, members=members):
            parts = [_model(member) for member in members]
            return PoolPart(weights=weights, members=parts, degrees_of_freedom=learned.degrees_of_freedom)
        case PerClass(likelihood=likelihood, members=members):
            return PerClassPart(likelihood=likelihood, members=[_model(member) for member in members])
        case HurdleModel(zero=zero, positive=positive, likelihood=of_both):
            return HurdlePart(likelihood=of_both, zero=_model(zero), positive=_model(positive))
        case Model():
            return _model(learned)


def _model(model: Model) -> ModelPart:
    return ModelPart(
        likelihood=model.likelihood,
        functions=[functions_part(functions) for functions in model.functions],
        mean=model.mean,
        covariance=model.covariance,
        alpha=model.alpha,
        gamma=model.gamma,
        noise_sd=model.noise_sd,
        signal_variance=model.signal_variance,
        augmentation=None if model.augmentation is None else _augmentation(model.augmentation),
        rows=model.rows,
        candidates=model.candidates,
        evidence=EvidencePart(**vars(model.evidence)),
        last_gain=_finite(model.last_gain),
        next_gain=_finite(model.next_gain),
        termination=str(model.termination),
        jitter=model.jitter,
        log_noise=None if model.log_noise is None else _log_noise(model.log_noise),
        input_range=None if model.input_range is None else _input_range(model.input_range),
        degrees_of_freedom=model.degrees_of_freedom,
    )


def _local(learned: LocalModel) -> LocalPart:
    process = learned.process
    h, rows = process.hyperparameters, process.rows
    blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, len(rows.t), BLOCK_ROWS)]
    return LocalPart(
        likelihood=learned.likelihood,
        neighbours=process.neighbours,
        kernel=process.kernel,
        widths=h.input_map.widths,
        skew=h.input_map.skew,
        tail=h.input_map.tail,
        functions=[functions_part(functions) for functions in process.functions],
        alpha=h.alpha,
        signal_variance=h.signal_variance,
        noise_sd=process.noise_sd,
        centre=process.centre,
        rows=[RowsPart(inputs=rows.X[block], targets=rows.t[block]) for block in blocks],
        trend=None if learned.trend is None else _model(learned.trend),
    )


def _log_noise(second: LogNoise) -> LogNoisePart:
    return LogNoisePart(model=_model(second.model), min=second.min_log, max=second.max_log)


def _input_range(bounds: InputRange) -> InputRangePart:
    return InputRangePart(lower=bounds.lower, upper=bounds.upper)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _augmentation(kept: Augmentation) -> AugmentationPart:
    return AugmentationPart(functions=kernel_part(kept.functions), spread=kept.spread, precisions=kept.precisions)


def _terms(terms: Expansion) -> TermsPart:
    return TermsPart(
        centres=terms.centres,
        coefficients=terms.coefficients,
        widths=terms.widths,
        constant=terms.constant,
    )


def _image(code: ImageCode) -> ImagePart:
    return ImagePart(
        height=code.height,
        width=code.width,
        constant=code.constant,
        wavelets=wavelets_part(code.wavelets),
        weights=code.weights,
        sds=code.sds,
        alpha=code.alpha,
        error=code.error,
        noise_sd=code.noise_sd,
        candidates=code.candidates,
        path=[ReachedPart(functions=functions, error=error) for functions, error in code.path],
        termination=code.termination,
    )


def _components(predictor: ComponentsPredictor) -> ComponentsPart:
    found = predictor.components
    return ComponentsPart(
        functions=kernel_part(KernelFunctions(found.kernel, found.input_map, found.centres, found.rows)),
        weights=found.weights,
        noise_variance=found.noise_variance,
        log_marginal_likelihood=found.evidence,
        log_densities=predictor.log_densities,
    )
