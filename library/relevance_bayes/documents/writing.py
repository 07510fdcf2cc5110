"""From a version to its document."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from pydantic import TypeAdapter

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.basis import (
    KernelFunctions,
)
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.images import ImageCode
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import InputRange, LogNoise, Model
from relevance_bayes.core.per_class import PerClass
from relevance_bayes.core.pool import LearnedModel, Pool
from relevance_bayes.core.posterior import Augmentation
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
from relevance_bayes.documents.limits import value_faults
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    ImagePredictor,
    Predictor,
    SupervisedPredictor,
    SupervisedReport,
)
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
    Inputs,
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
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.json import encode, validate
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


MAX_FAULTS = 20

INPUT_ORDER = "input_order"
"""The member of a plan with the names of the inputs in the user's order, where a document has them in another."""

NUMBER_FORMS = "number_forms"
"""The member of a plan with the forms of numbers in files, by input, where there are any."""

KINDS = {"calendar": "timestamp", "logarithm": "number", "effects": "category"}
"""The kinds of columns that documents have by their encoding."""

R = TypeVar("R")

Members: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Reports(Generic[R]):
    """The reports of a kind of task; members `given` in a report, or `planned` in its plan, are the document's."""

    adapter: TypeAdapter[R]
    given: frozenset[str]
    planned: frozenset[str]

    def reported(self, report: R, encoding: InputEncoding) -> Members:
        """Return the report without members that the document has elsewhere, where the inputs are in the order of the
        encoding."""
        whole = _object(encode(report))
        plan = _object(whole["plan"])
        names = _names(plan["inputs"])
        added: Members = {} if names == [column.name for column in encoding.inputs] else {INPUT_ORDER: names}
        inputs = map(_object, _list(plan["inputs"]))
        if forms := {str(column["name"]): column["form"] for column in inputs if column.get("form") is not None}:
            added[NUMBER_FORMS] = forms
        return {
            **{name: value for name, value in whole.items() if name not in self.given},
            "plan": {name: value for name, value in plan.items() if name not in self.planned} | added,
        }

    def read(self, sent: Members, given: Members, planned: Members) -> R:
        """Return the complete report of a document; raises InvalidRequestError."""
        assert given.keys() == self.given
        assert planned.keys() == self.planned
        plan = sent.get("plan")
        if not isinstance(plan, dict):
            detail = "Expected an object."
            raise InvalidRequestError(f"At /report/plan: {detail}", [Fault(detail, "/report/plan")])
        faults = [*_repeated(sent, given, "/report"), *_repeated(plan, planned, "/report/plan")]
        faults += islice(value_faults(sent, "/report"), MAX_FAULTS)
        if faults:
            raise _refusal(faults)
        names = _names(planned["inputs"])
        order = plan.get(INPUT_ORDER, names)
        if not isinstance(order, list) or len(order) != len(names) or not all(name in order for name in names):
            raise _refusal([Fault("Expected the names of all inputs.", f"/report/plan/{INPUT_ORDER}")])
        forms = plan.get(NUMBER_FORMS, {})
        if not isinstance(forms, dict) or not forms.keys() <= {*names}:
            raise _refusal([Fault("Expected forms of numbers by the names of inputs.", f"/report/plan/{NUMBER_FORMS}")])
        columns = {
            name: {**_object(column), "form": forms[name]} if name in forms else column
            for name, column in zip(names, _list(planned["inputs"]), strict=True)
        }
        inputs = [columns[name] for name in (_list(order) if INPUT_ORDER in plan else names)]
        others = {name: value for name, value in plan.items() if name not in {INPUT_ORDER, NUMBER_FORMS}}
        whole: Members = {**sent, **given, "plan": {**others, **planned, "inputs": inputs}}
        report = validate(self.adapter, whole, "/report")
        strange = unknown(whole, encode(report), "/report")
        if strange:
            raise _refusal(strange)
        return report


def _refusal(faults: Sequence[Fault]) -> InvalidRequestError:
    return InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


SUPERVISED: Reports[SupervisedReport] = Reports(
    TypeAdapter(SupervisedReport),
    given=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "target", "target_kind", "classes", "inputs", "noise_column"}),
)
APPROXIMATIONS: Reports[ApproximationReport] = Reports(
    TypeAdapter(ApproximationReport),
    given=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "inputs", "constant"}),
)
COMPONENTS: Reports[ComponentsReport] = Reports(
    TypeAdapter(ComponentsReport),
    given=frozenset({"task", "functions", "noise_variance", "log_marginal_likelihood"}),
    planned=frozenset({"task", "model", "inputs", "kernel"}),
)


def supervised_members(report: SupervisedReport, encoding: InputEncoding) -> Members:
    """Return the members without numbers that are not finite."""
    whole = SUPERVISED.reported(report, encoding)
    metrics, alternatives = _object(whole["metrics"]), whole["alternatives"]
    assert isinstance(alternatives, list)
    return whole | {
        "metrics": {name: _finite_members(figures) for name, figures in metrics.items()},
        "alternatives": [one for one in alternatives if isinstance(one, dict) and _is_finite([one["score"]])],
    }


def _finite_members(figures: object) -> Members:
    return {name: value for name, value in _object(figures).items() if _is_finite([value])}


def _object(value: object) -> Members:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _names(inputs: object) -> list[object]:
    return [_object(column)["name"] for column in _list(inputs)]


def _is_finite(values: Sequence[object]) -> bool:
    return all(not isinstance(value, float) or math.isfinite(value) for value in values)


def supervised_report(document: SupervisedDocument, target: EncodedTarget, functions: int) -> SupervisedReport:
    """Return the report; raises InvalidRequestError."""
    given: Members = {"task": document.task, "functions": functions}
    planned: Members = {
        "task": document.task,
        "model": document.source.model,
        "target": target.name,
        "target_kind": target.kind,
        "classes": list(target.classes),
        "inputs": _columns(document.inputs),
        "noise_column": target.noise_column,
    }
    return SUPERVISED.read(document.report, given, planned)


def approximation_report(document: ApproximationDocument) -> ApproximationReport:
    """Return the report; raises InvalidRequestError."""
    model = document.model
    given: Members = {"task": document.task, "functions": len(model.coefficients)}
    planned: Members = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "constant": model.constant,
    }
    return APPROXIMATIONS.read(document.report, given, planned)


def components_report(document: ComponentsDocument) -> ComponentsReport:
    """Return the report; raises InvalidRequestError."""
    model = document.model
    given: Members = {
        "task": document.task,
        "functions": len(model.weights),
        "noise_variance": model.noise_variance,
        "log_marginal_likelihood": model.log_marginal_likelihood,
    }
    planned: Members = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "kernel": encode(model.functions.kernel),
    }
    return COMPONENTS.read(document.report, given, planned)


def _columns(inputs: Inputs) -> object:
    return [
        {
            "name": column.name,
            "kind": KINDS.get(column.kind, column.kind),
            "categories": list[str](column.categories if isinstance(column, CategoryInput) else ()),
        }
        for column in inputs
    ]


def _repeated(sent: Mapping[str, object], given: Mapping[str, object], where: str) -> Iterator[Fault]:
    for name in sent.keys() & given.keys():
        yield Fault("The document has this member elsewhere.", f"{where}/{name}")


def unknown(sent: object, known: object, where: str) -> list[Fault]:
    """Return a fault for each member of `sent` that is not in `known`."""
    if isinstance(sent, dict) and isinstance(known, dict):
        strange = [Fault(f"The member {name!r} is unknown.", where) for name in sent if name not in known]
        return strange + list(
            chain.from_iterable(unknown(sent[name], known[name], f"{where}/{name}") for name in sent if name in known)
        )
    if isinstance(sent, list) and isinstance(known, list):
        pairs = enumerate(zip(sent, known, strict=False))
        return list(chain.from_iterable(unknown(one, other, f"{where}/{place}") for place, (one, other) in pairs))
    return []
