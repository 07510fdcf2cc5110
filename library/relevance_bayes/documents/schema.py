"""The schema of exported documents, the predictors of their contents, and their arrays.

`docs/reference/document.md` describes the members; `relevance_bayes.documents.validation` checks all conditions on more
than one of them.

In place of an array is {"array": name}; its name is its path, as in `model/members/0/mean`.

`document.json` is the document with {"array": name} in place of arrays; numbers are `<f8`, indices `<i8`. There are no
pickles and no dates: the same version gives the same bytes.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.documents.codec import (
    FIRST_FAULT,
    LIMITS,
    AsTuples,
    Count,
    CountOf,
    Dimensions,
    Finite,
    From,
    Matrix,
    NotNegative,
    Part,
    Positive,
    PositiveMatrix,
    PositiveVector,
    Sizes,
    Stands,
    Vector,
    wrong,
)
from relevance_bayes.documents.parts import KernelPart, LearnedPart, WaveletsPart
from relevance_bayes.documents.reports import (
    APPROXIMATION,
    COMPONENTS,
    SUPERVISED,
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
    read_report,
    reported,
)
from relevance_bayes.records.annotations import OneOf, is_none
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.json import encode, validate
from relevance_bayes.records.values import ColumnKind, Label, Period
from relevance_bayes.records.versions import OtherMembers
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
)
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.approximation.request import MAX_TERMS
from relevance_bayes.tasks.components.report import ComponentsPredictor
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.images.code import ImageCode
from relevance_bayes.tasks.images.report import ImagePredictor
from relevance_bayes.tasks.planning import MODEL_NAME
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.union import Predictor

FORMAT: Literal["relevance-version"] = "relevance-version"
FORMAT_VERSION: Literal[1] = 1


@with_config(ConfigDict(extra="allow"))
class SourcePart(TypedDict):
    """The original version, by its names there."""

    model: Annotated[str, Field(pattern=f"^{MODEL_NAME.pattern}$")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]
    created_at: datetime


SOURCE = TypeAdapter(SourcePart)

Others: TypeAlias = dict[str, object]
"""Members that are not known here: they are kept, and exported again."""

OTHERS: Mapping[str, object] = {
    "exclude_if": is_none,
    "description": "Not written by this release: what an imported document has here is exported with it again.",
}


@dataclass(frozen=True, kw_only=True)
class NumberInput(Part[EncodedNumber]):
    """(value - shift) / scale, booleans as 0 and 1, timestamps in seconds since 1970 UTC."""

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool

    @classmethod
    def fits(cls, record: object) -> bool:
        """Return whether a record is a number without periods and without a logarithm."""
        return isinstance(record, EncodedNumber) and not record.periods and record.unit is None


@dataclass(frozen=True, kw_only=True)
class CalendarInput(Part[EncodedNumber]):
    """A timestamp as a number, (seconds - shift) / scale, then a sine and a cosine of its position in each period."""

    name: str
    kind: Annotated[Literal["calendar"], Stands("timestamp")]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool
    periods: list[Period]

    @classmethod
    def fits(cls, record: object) -> bool:
        """Return whether a record is a timestamp with periods."""
        return isinstance(record, EncodedNumber) and bool(record.periods)


@dataclass(frozen=True, kw_only=True)
class LogarithmInput(Part[EncodedNumber]):
    """The logarithm with a sign of a number, (sign(value) log(1 + |value|/unit) - shift) / scale."""

    name: str
    kind: Annotated[Literal["logarithm"], Stands("number")]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool
    unit: Positive

    @classmethod
    def fits(cls, record: object) -> bool:
        """Return whether a record is a number by its logarithm."""
        return isinstance(record, EncodedNumber) and record.unit is not None


@dataclass(frozen=True, kw_only=True)
class CategoryInput(Part[EncodedCategory]):
    """A 0/1 column for each category."""

    name: str
    kind: Literal["category"]
    categories: Annotated[list[str], FIRST_FAULT, Dimensions("categories")]
    fill: Annotated[Vector, Dimensions("categories"), AsTuples()] | None
    indicator: bool


@dataclass(frozen=True, kw_only=True)
class EffectsInput(Part[EncodedEffects]):
    """A column for each output, with the effect of a text on the target; 0 for texts that are not `categories`."""

    name: str
    kind: Literal["effects"]
    categories: Annotated[list[str], FIRST_FAULT, Dimensions("categories")]
    effects: Annotated[Matrix, Dimensions("outputs", "categories"), AsTuples()]
    fill: Finite | None
    indicator: bool


@dataclass(frozen=True, kw_only=True)
class TargetPart(Part[EncodedTarget]):
    """The target and its units."""

    name: str
    kind: ColumnKind
    shift: Finite
    scale: Positive
    classes: Annotated[list[Label], FIRST_FAULT]
    logarithmic: bool
    noise_column: str | None


@dataclass(frozen=True, kw_only=True)
class TermsPart(Part[KernelExpansion]):
    """The terms of an approximation, each with its own widths, and a constant."""

    centres: Annotated[Matrix, Dimensions("terms", "inputs")]
    coefficients: Annotated[Vector, Dimensions("terms")]
    widths: Annotated[PositiveMatrix, Dimensions("terms", "inputs")]
    constant: Finite

    def decode(self, sizes: Sizes, where: str) -> KernelExpansion:
        """Return the terms, one at least."""
        if not sizes["inputs"]:
            raise wrong("/inputs", "Expected at least one input.")
        size = len(self.coefficients)
        if not 1 <= size <= MAX_TERMS:
            raise wrong(f"{where}/coefficients", f"Expected 1 to {MAX_TERMS:,} coefficients, got {size:,}.")
        return super().decode({**sizes, "terms": size}, where)


@dataclass(frozen=True, kw_only=True)
class ReachedPart(Part[tuple[int, float]]):
    """The error with this number of functions."""

    functions: Count
    error: NotNegative


@dataclass(frozen=True, kw_only=True)
class ImagePart(Part[ImageCode]):
    """A constant and wavelets over pixels, whose centres are (row, column), and their error."""

    height: Count
    width: Count
    constant: Finite
    wavelets: WaveletsPart
    weights: Annotated[Vector, Dimensions("functions")]
    sds: Annotated[Vector, Dimensions("functions")]
    alpha: Annotated[PositiveVector, Dimensions("functions")]
    error: NotNegative
    noise_sd: NotNegative
    candidates: Count
    path: list[ReachedPart]
    termination: Termination

    @classmethod
    def attributes(cls, record: ImageCode) -> Mapping[str, object]:
        """Return the values of the members, with the errors of the path."""
        return vars(record) | {"path": [ReachedPart(functions=n, error=error) for n, error in record.path]}


@dataclass(frozen=True, kw_only=True)
class ComponentsPart(Part[ComponentsPredictor]):
    """The rows that carry components, the densities of other rows, and the noise."""

    functions: Annotated[KernelPart, CountOf("functions")]
    weights: Annotated[PositiveVector, Dimensions("functions")]
    noise_variance: Positive
    log_marginal_likelihood: Annotated[Finite, From("evidence")]
    log_densities: Vector

    @classmethod
    def attributes(cls, record: ComponentsPredictor) -> Mapping[str, object]:
        """Return the values of the members."""
        found = record.components
        functions = KernelFunctions(found.kernel, found.input_map, found.centres, found.rows)
        return vars(found) | {"functions": functions, "log_densities": record.log_densities}

    def components(self, sizes: Sizes, where: str) -> Components:
        """Return the components, whose kernel has no terms."""
        self.values(sizes, where)
        functions = self.functions.decode(sizes, f"{where}/functions")
        if not isinstance(functions.kernel, Covariance):
            raise wrong(f"{where}/functions", "Expected one kernel without terms.")
        numbers = self.weights, self.noise_variance, self.log_marginal_likelihood
        return Components(functions.kernel, functions.input_map, functions.centres, functions.rows, *numbers)


InputPart: TypeAlias = NumberInput | CalendarInput | LogarithmInput | CategoryInput | EffectsInput
Inputs = Annotated[list[Annotated[InputPart, OneOf("kind")]], FIRST_FAULT]
Report: TypeAlias = dict[str, object]
"""Plain JSON."""


def _encoding(inputs: list[InputPart]) -> InputEncoding:
    return InputEncoding(tuple(column.decode({}, f"/inputs/{place}") for place, column in enumerate(inputs)))


REPORT = {
    "description": "The report of the training. Predictions need only `class_rows`, and these only with `class_priors`."
}


@dataclass(frozen=True, kw_only=True)
class SupervisedContent(Part[SupervisedPredictor]):
    """The content of a supervised predictor."""

    task: Literal["regression", "classification"]
    inputs: Inputs
    target: TargetPart
    model: LearnedPart

    @classmethod
    def attributes(cls, record: SupervisedPredictor) -> Mapping[str, object]:
        """Return the values of the members."""
        task = "classification" if record.encoding.target.classes else "regression"
        return {"task": task, **vars(record.encoding), "model": record.learned}

    def decode(self, sizes: Sizes, where: str = "") -> SupervisedPredictor:
        """Return the predictor."""
        encoding = Encoding(_encoding(self.inputs).inputs, self.target.decode({}, "/target"))
        known = {**sizes, "inputs": encoding.width, "classes": len(encoding.target.classes)}
        return SupervisedPredictor(encoding, self.model.decode(known, "/model"))


@dataclass(frozen=True, kw_only=True)
class ApproximationContent(Part[ApproximationPredictor]):
    """The terms of an approximation."""

    task: Literal["approximation"]
    inputs: Inputs
    model: TermsPart

    @classmethod
    def attributes(cls, record: ApproximationPredictor) -> Mapping[str, object]:
        """Return the values of the members."""
        return {"inputs": record.encoding.inputs, "model": record.expansion}

    def decode(self, sizes: Sizes, where: str = "") -> ApproximationPredictor:
        """Return the predictor."""
        encoding = _encoding(self.inputs)
        return ApproximationPredictor(encoding, self.model.decode({**sizes, "inputs": encoding.width}, "/model"))


@dataclass(frozen=True, kw_only=True)
class ImageContent(Part[ImagePredictor]):
    """The code of an image, which is stored but not exported."""

    task: Literal["image"]
    inputs: Inputs
    model: ImagePart

    @classmethod
    def attributes(cls, record: ImagePredictor) -> Mapping[str, object]:
        """Return the values of the members."""
        return {"inputs": record.encoding.inputs, "model": record.code}

    def decode(self, sizes: Sizes, where: str = "") -> ImagePredictor:
        """Return the predictor."""
        encoding = _encoding(self.inputs)
        return ImagePredictor(encoding, self.model.decode({**sizes, "inputs": encoding.width}, "/model"))


@dataclass(frozen=True, kw_only=True)
class ComponentsContent(Part[ComponentsPredictor]):
    """Principal components."""

    task: Literal["components"]
    inputs: Inputs
    model: ComponentsPart

    @classmethod
    def attributes(cls, record: ComponentsPredictor) -> Mapping[str, object]:
        """Return the values of the members."""
        return {"inputs": record.encoding.inputs, "model": record}

    def decode(self, sizes: Sizes, where: str = "") -> ComponentsPredictor:
        """Return the predictor."""
        encoding = _encoding(self.inputs)
        components = self.model.components({**sizes, "inputs": encoding.width}, "/model")
        return ComponentsPredictor(encoding, components, self.model.log_densities)


Content: TypeAlias = SupervisedContent | ApproximationContent | ImageContent | ComponentsContent
"""The content of a predictor: stored next to the report, and part of the document."""

CONTENT: TypeAdapter[Content] = TypeAdapter(Annotated[Content, OneOf("task")])


@dataclass(frozen=True, kw_only=True)
class DocumentBase:
    """The members of all documents; `task` determines the others."""

    __pydantic_config__ = {"extra": "forbid"}

    format: Literal["relevance-version"]
    format_version: Literal[1]
    source: SourcePart
    sums: Others | None = field(default=None, metadata=OTHERS)
    groups: Others | None = field(default=None, metadata=OTHERS)

    @property
    def others(self) -> OtherMembers | None:
        """Return the members that are not known here, by the places where a document may have such."""
        places = {
            "sums": self.sums,
            "groups": self.groups,
            "source": {name: one for name, one in self.source.items() if name not in SourcePart.__annotations__},
        }
        return {place: members for place, members in places.items() if members} or None


@dataclass(frozen=True, kw_only=True)
class SupervisedDocument(SupervisedContent, DocumentBase):
    """A version that predicts numbers or classes."""

    report: Report = field(metadata=REPORT)


@dataclass(frozen=True, kw_only=True)
class ApproximationDocument(ApproximationContent, DocumentBase):
    """An approximation of a known function by few terms."""

    report: Report = field(metadata=REPORT)


@dataclass(frozen=True, kw_only=True)
class ComponentsDocument(ComponentsContent, DocumentBase):
    """Principal components, with the novelty of rows."""

    report: Report = field(metadata=REPORT)


VersionDocument: TypeAlias = Annotated[SupervisedDocument | ApproximationDocument | ComponentsDocument, OneOf("task")]

DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)


def content_of(predictor: Predictor) -> Content:
    """Return the content of a predictor for its document."""
    match predictor:
        case SupervisedPredictor():
            return SupervisedContent.encode(predictor)
        case ApproximationPredictor():
            return ApproximationContent.encode(predictor)
        case ImagePredictor():
            return ImageContent.encode(predictor)
        case ComponentsPredictor():
            return ComponentsContent.encode(predictor)


def predictor_of(content: Content) -> Predictor:
    """Return the predictor of a stored document; raises InvalidRequestError for inconsistent arrays."""
    return content.decode({})


def document_of(exported: ExportedVersion) -> VersionDocument:
    """Return the document of a version; numbers of its report that are not finite are left out."""
    others = exported.report.others or {}
    named = {"model": exported.model, "version": exported.number, "created_at": exported.created_at}
    head = DocumentBase(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        source=SOURCE.validate_python({**others.get("source", {}), **named}),
        sums=others.get("sums"),
        groups=others.get("groups"),
    )
    members = vars(head) | vars(content_of(exported.predictor)) | {"report": reported(exported)}
    match exported:
        case ExportedSupervised():
            return SupervisedDocument(**members)
        case ExportedApproximation():
            return ApproximationDocument(**members)
        case ExportedComponents():
            return ComponentsDocument(**members)


def version_of(document: VersionDocument) -> ExportedVersion:
    """Return the version in a document; raises InvalidRequestError, also for too many functions or models."""
    model, number, created_at = document.source["model"], document.source["version"], document.source["created_at"]
    sent, others = document.report, document.others
    match document:
        case SupervisedDocument():
            supervised = document.decode(LIMITS)
            report = read_report(SUPERVISED, sent, supervised, model=model, task=document.task, others=others)
            return ExportedSupervised(model, number, created_at, report, supervised)
        case ApproximationDocument():
            terms = document.decode(LIMITS)
            of_terms = read_report(APPROXIMATION, sent, terms, model=model, task=document.task, others=others)
            return ExportedApproximation(model, number, created_at, of_terms, terms)
        case ComponentsDocument():
            components = document.decode(LIMITS)
            of_components = read_report(COMPONENTS, sent, components, model=model, task=document.task, others=others)
            return ExportedComponents(model, number, created_at, of_components, components)


Json: TypeAlias = "bool | int | float | str | Sequence[Json] | dict[str, Json] | None"
Stored: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


def extract_arrays(document: object) -> tuple[Json, dict[str, Stored]]:
    """Return the JSON of a document without the arrays of its model, and these by name: `<f8`, or `<i8` for indices."""
    arrays: dict[str, Stored] = {}
    return _apart(encode(document), "", arrays), arrays


def _apart(value: object, name: str, arrays: dict[str, Stored]) -> Json:
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case np.ndarray() if value.size:
            arrays[name] = value.astype("<i8" if value.dtype.kind == "i" else "<f8", order="C", copy=False)
            return {"array": name}
        case np.ndarray():
            empty: Json = value.tolist()
            return empty
        case dict():
            below = f"{name}/" if name else ""
            return {member: _apart(inner, f"{below}{member}", arrays) for member, inner in value.items()}
        case list():
            return [_apart(inner, f"{name}/{place}", arrays) for place, inner in enumerate(value)]
    raise TypeError(f"expected arrays and JSON, got {type(value).__name__}")


DOCUMENT_NAME = "document.json"
ENDING = ".npy"
NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date of a zip archive."""


def write(document: VersionDocument) -> bytes:
    """Return a document as an archive."""
    reported, arrays = extract_arrays(document)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        content = json.dumps(reported, ensure_ascii=False, separators=(",", ":")).encode()
        archive.writestr(zipfile.ZipInfo(DOCUMENT_NAME, NO_DATE), content)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}{ENDING}", NO_DATE), member.getvalue())
    return sink.getvalue()


def read(data: bytes) -> ExportedVersion:
    """Return the version in an archive that `write` made; raises InvalidDataError, InvalidRequestError.

    The size of the archive is not limited: for files of others, see the service's import.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = json.loads(archive.read(DOCUMENT_NAME))
            arrays = {
                name.removesuffix(ENDING): _array(archive, name) for name in archive.namelist() if name.endswith(ENDING)
            }
            content |= {place: _with_lists(content[place], arrays) for place in ("sums", "groups") if place in content}
            document = validate(DOCUMENT, content, arrays=arrays)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError) as error:
        raise InvalidDataError("The data can't be read as a version in npz.") from error
    return version_of(document)


def _with_lists(value: object, arrays: Mapping[str, Stored]) -> object:
    """Return JSON that is not known here with lists in place of its arrays."""
    match value:
        case {"array": str(name)}:
            return arrays[name].tolist()
        case dict():
            return {member: _with_lists(inner, arrays) for member, inner in value.items()}
        case list():
            return [_with_lists(inner, arrays) for inner in value]
    return value


def _array(archive: zipfile.ZipFile, name: str) -> Stored:
    with archive.open(name) as member:
        found: Stored = np.lib.format.read_array(io.BytesIO(member.read()), allow_pickle=False)
    return found
