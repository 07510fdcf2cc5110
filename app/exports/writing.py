"""From a version to its document."""

import math

from app.domain.encoding import EncodedInput, EncodedNumber, EncodedTarget
from app.domain.exports import ExportedApproximation, ExportedComponents, ExportedSupervised, ExportedVersion
from app.domain.models import ComponentsPredictor
from app.exports.reports import APPROXIMATIONS, COMPONENTS, supervised_told
from app.exports.schema import (
    FORMAT,
    FORMAT_VERSION,
    ApproximationDocument,
    AugmentationPart,
    BiasPart,
    CategoryInput,
    ComponentsDocument,
    ComponentsPart,
    EvidencePart,
    FunctionsPart,
    GroupPart,
    InputsPart,
    KernelPart,
    LogNoisePart,
    ModelPart,
    NumberInput,
    PerClassPart,
    PoolPart,
    SinglePart,
    SourcePart,
    SplinesPart,
    StepsPart,
    SupervisedDocument,
    TargetPart,
    TermPart,
    TermsPart,
    VersionDocument,
    WaveletsPart,
    WavesPart,
)
from app.sparse_bayes.approximation import Expansion
from app.sparse_bayes.augmentation import Augmentation
from app.sparse_bayes.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from app.sparse_bayes.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from app.sparse_bayes.kernels import Additive
from app.sparse_bayes.model import LogNoise, Model
from app.sparse_bayes.per_class import PerClass
from app.sparse_bayes.pool import LearnedModel, Pool
from app.sparse_bayes.types import Array


def document_of(exported: ExportedVersion) -> VersionDocument:
    """All that a version says."""
    source = SourcePart(model=exported.model, version=exported.number, created_at=exported.created_at)
    inputs = [_input(column) for column in exported.predictor.encoding.inputs]
    match exported:
        case ExportedSupervised():
            return SupervisedDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=exported.report.task,
                inputs=inputs,
                target=_target(exported.predictor.encoding.target),
                model=_learned(exported.predictor.learned),
                report=supervised_told(exported.report),
            )
        case ExportedApproximation():
            return ApproximationDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=exported.report.task,
                inputs=inputs,
                model=_terms(exported.predictor.expansion),
                report=APPROXIMATIONS.told(exported.report),
            )
        case ExportedComponents():
            return ComponentsDocument(
                format=FORMAT,
                format_version=FORMAT_VERSION,
                source=source,
                task=exported.report.task,
                inputs=inputs,
                model=_components(exported.predictor),
                report=COMPONENTS.told(exported.report),
            )


def _input(column: EncodedInput) -> NumberInput | CategoryInput:
    if isinstance(column, EncodedNumber):
        return NumberInput(
            name=column.name,
            kind=column.kind,
            shift=column.shift,
            scale=column.scale,
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


def _learned(learned: LearnedModel) -> ModelPart | PoolPart | PerClassPart:
    match learned:
        case Pool(weights=weights, members=members):
            return PoolPart(weights=weights.tolist(), members=[_model(member) for member in members])
        case PerClass(likelihood=likelihood, members=members):
            return PerClassPart(likelihood=likelihood, members=[_model(member) for member in members])
        case Model():
            return _model(learned)


def _model(model: Model) -> ModelPart:
    return ModelPart(
        likelihood=model.likelihood,
        functions=[_functions(functions) for functions in model.functions],
        mean=model.mean.tolist(),
        covariance=model.covariance.tolist(),
        alpha=model.alpha.tolist(),
        gamma=model.gamma.tolist(),
        noise_sd=model.noise_sd,
        signal_variance=model.amplitude,
        augmentation=None if model.augmentation is None else _augmentation(model.augmentation),
        rows=model.rows,
        candidates=model.candidates,
        evidence=EvidencePart(**vars(model.evidence)),
        last_gain=_finite(model.last_gain),
        next_gain=_finite(model.next_gain),
        termination=str(model.termination),
        jitter=model.jitter,
        log_noise=None if model.log_noise is None else _log_noise(model.log_noise),
    )


def _log_noise(second: LogNoise) -> LogNoisePart:
    return LogNoisePart(model=_model(second.model), min=second.least, max=second.greatest)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _augmentation(kept: Augmentation) -> AugmentationPart:
    precisions = None if kept.precisions is None else kept.precisions.tolist()
    return AugmentationPart(functions=_kernel(kept.functions), spread=kept.spread, precisions=precisions)


def _functions(functions: Functions) -> FunctionsPart:
    if isinstance(functions, GroupFunctions):
        return GroupPart(type="group", columns=functions.columns.tolist(), of=_single(functions.of))
    return _single(functions)


def _single(functions: SingleFunctions) -> SinglePart:
    match functions:
        case KernelFunctions():
            return _kernel(functions)
        case ConstantFunction():
            return BiasPart(type="bias")
        case InputFunctions(columns=columns):
            return InputsPart(type="inputs", columns=columns.tolist())
        case StepFunctions(inputs=inputs, places=places):
            return StepsPart(type="steps", inputs=inputs.tolist(), locations=places.tolist())
        case FourierFunctions():
            return WavesPart(
                type="fourier",
                inputs=functions.inputs.tolist(),
                origins=functions.origins.tolist(),
                frequencies=functions.frequencies.tolist(),
                phases=functions.phases.tolist(),
            )
        case SplineFunctions():
            return SplinesPart(
                type="b_splines",
                degree=functions.degree,
                inputs=functions.inputs.tolist(),
                locations=functions.places.tolist(),
                scales=functions.spans.tolist(),
            )
        case GaborFunctions():
            return WaveletsPart(
                type="gabor",
                centres=functions.centres.tolist(),
                scales=functions.spans.tolist(),
                frequencies=functions.frequencies.tolist(),
                phases=functions.phases.tolist(),
            )


def _kernel(functions: KernelFunctions) -> KernelPart:
    kernel, terms = functions.kernel, list[TermPart]()
    if isinstance(kernel, Additive):
        pairs = zip(kernel.alone, kernel.shares, strict=True)
        kernel, terms = kernel.kernel, [TermPart(input=place, share=share) for place, share in pairs]
    bend = functions.input_map
    return KernelPart(
        type="kernel",
        kernel=kernel,
        terms=terms,
        widths=bend.widths.tolist(),
        skew=_listed(bend.skew),
        tail=_listed(bend.tail),
        centres=functions.centres.tolist(),
    )


def _terms(terms: Expansion) -> TermsPart:
    return TermsPart(
        centres=terms.centres.tolist(),
        coefficients=terms.coefficients.tolist(),
        widths=terms.widths.tolist(),
        constant=terms.constant,
    )


def _components(predictor: ComponentsPredictor) -> ComponentsPart:
    found = predictor.components
    return ComponentsPart(
        functions=_kernel(KernelFunctions(found.kernel, found.input_map, found.centres, found.rows)),
        weights=found.weights.tolist(),
        noise_variance=found.noise_variance,
        log_marginal_likelihood=found.evidence,
        log_densities=predictor.log_densities.tolist(),
    )


def _listed(array: Array | None) -> list[float] | None:
    return None if array is None else array.tolist()
