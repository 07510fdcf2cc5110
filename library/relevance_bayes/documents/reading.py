"""From a document to its version, with arrays of consistent sizes."""

from datetime import datetime

import numpy as np

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.components import Components
from relevance_bayes.core.images import ImageCode
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.core.pool import n_functions
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.documents.functions import kernel_functions_of, wavelets_of
from relevance_bayes.documents.learned_reading import learned_of
from relevance_bayes.documents.limits import refuse_large
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ComponentsPredictor,
    ImagePredictor,
    Predictor,
    SupervisedPredictor,
)
from relevance_bayes.documents.schema import (
    ApproximationContent,
    ApproximationDocument,
    CalendarInput,
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
    SupervisedContent,
    SupervisedDocument,
    TargetPart,
    TermsPart,
    VersionDocument,
)
from relevance_bayes.documents.sizes import matrix, vector, wrong
from relevance_bayes.documents.writing import approximation_report, components_report, supervised_report
from relevance_bayes.plans.approximation import MAX_TERMS
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
)


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
    predictor = _supervised(document)
    report = supervised_report(document, predictor.encoding.target, n_functions(predictor.learned))
    return ExportedSupervised(*named, report, predictor)


def _supervised(content: SupervisedContent) -> SupervisedPredictor:
    encoding = Encoding(_inputs(content).inputs, _target(content.target))
    return SupervisedPredictor(encoding, learned_of(content.model, encoding.width, len(encoding.target.classes)))


def _approximation(content: ApproximationContent) -> ApproximationPredictor:
    encoding = _inputs(content)
    return ApproximationPredictor(encoding, _terms(content.model, encoding.width))


def _of_components(content: ComponentsContent) -> ComponentsPredictor:
    encoding = _inputs(content)
    found = _components(content.model, encoding.width)
    return ComponentsPredictor(encoding, found, np.asarray(content.model.log_densities, np.float64))


def _inputs(content: Content) -> InputEncoding:
    return InputEncoding(tuple(_input(column, f"/inputs/{place}") for place, column in enumerate(content.inputs)))


def _input(column: InputPart, where: str) -> EncodedInput:
    if isinstance(column, EffectsInput):
        shape = len(column.effects), len(column.categories)
        effects = tuple(map(tuple, matrix(column.effects, shape, f"{where}/effects").tolist()))
        return EncodedEffects(column.name, tuple(column.categories), effects, column.fill, column.indicator)
    if isinstance(column, CalendarInput):
        numbers = column.shift, column.scale, column.fill
        return EncodedNumber(column.name, "timestamp", *numbers, column.indicator, tuple(column.periods))
    if isinstance(column, LogarithmInput):
        numbers = column.shift, column.scale, column.fill
        return EncodedNumber(column.name, "number", *numbers, column.indicator, unit=column.unit)
    if isinstance(column, NumberInput):
        return EncodedNumber(
            column.name, column.kind, column.shift, column.scale, column.fill, indicator=column.indicator
        )
    fill = None if column.fill is None else tuple(column.fill)
    return EncodedCategory(column.name, tuple(column.categories), fill, indicator=column.indicator)


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
