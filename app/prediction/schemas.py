"""Prediction options as query parameters, and the OpenAPI schemas of predictions."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar, get_args

import msgspec
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from app.formats.format import MAX_SKIPPED_ROWS, OptionName, ReadOptions
from app.http.bodies import checked
from app.http.openapi import DESCRIBED, described
from relevance_bayes.records.errors import Fault, InvalidRequestError, ProblemDetails
from relevance_bayes.records.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    MissingValue,
    PredictIn,
    PredictOptionsIn,
    UnknownCategory,
    Variance,
)
from relevance_bayes.records.values import DecimalMark, Label, TextEncoding, ThousandsMark

_OPTIONS: TypeAdapter[PredictOptionsIn] = TypeAdapter(PredictOptionsIn)
PREDICT_IN: TypeAdapter[PredictIn] = TypeAdapter(PredictIn)
"""The three forms of a table, only for OpenAPI: tables are parsed by app.formats, whose errors have rows and columns.
"""
_DECIMAL: TypeAdapter[DecimalMark | None] = TypeAdapter(DecimalMark | None)
_THOUSANDS: TypeAdapter[ThousandsMark | None] = TypeAdapter(ThousandsMark | None)
_ENCODING: TypeAdapter[TextEncoding | None] = TypeAdapter(TextEncoding | None)
_REPEATED = frozenset({"missing_values", "outputs"})
_TEXTS = frozenset({"on_error", "outputs", "row_ids", "unknown_categories", "nulls"})

Mark = TypeVar("Mark")

Pairs = Sequence[tuple[str, str]]
"""The names and values of a query, in order."""


@dataclass(frozen=True)
class Requested:
    """Options of predictions, and of how the body is parsed."""

    options: PredictOptionsIn
    read: ReadOptions


def read_query(query: Pairs, row_options: Collection[OptionName], media_type: str = "") -> Requested:
    """Return the options in a query; those of the body's format are limited to `row_options`.

    Numbers, booleans and lists are written as in JSON; `outputs` is repeated or comma-separated. Raises
    InvalidRequestError, whose pointers name the parameters.
    """
    pairs = [(name, value) for name, value in query if name not in row_options]
    _once([name for name, _ in query if name not in _REPEATED])
    raw: dict[str, object] = {name: _value(name, value) for name, value in pairs if name != "outputs"}
    outputs = [output for name, value in pairs if name == "outputs" for output in value.split(",")]
    if outputs:
        raw["outputs"] = outputs
    written = {name: value for name, value in query if name in row_options}
    listed = tuple(value for name, value in query if name == "missing_values" and name in row_options) or None
    return Requested(checked(_OPTIONS, raw, is_json=False), _read_options(written, listed, media_type))


def query_parameters() -> list[dict[str, object]]:
    """Return the options of a JSON body as query parameters."""
    schema = _OPTIONS.json_schema(ref_template="#/components/schemas/{model}-Input")
    listed: list[dict[str, object]] = []
    for name, member in schema["properties"].items():
        given = {"name": name, "in": "query", "description": f"Not for a JSON body: {member.pop('description')}"}
        reported = {key: value for key, value in member.items() if key not in {"title", "default"} or value is not None}
        if name == "row_ids":
            given["description"] = "Not for a JSON body: the column that has the caller's own ids of the rows."
            reported = {"type": "string"}
        nested = name in {"class_priors", "costs"}
        listed.append(
            {**given, "content": {"application/json": {"schema": reported}}}
            if nested
            else {**given, "schema": reported}
        )
    for option in DESCRIBED:
        reported = {"type": "string"}
        listed.append({"name": option, "in": "query", "description": described(option), "schema": reported})
    return listed


def _once(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        faults = [Fault("This parameter is repeated.", pointer=f"/{name}") for name in twice]
        raise InvalidRequestError(f"The parameter {twice[0]!r} is repeated.", faults)


def _value(name: str, text: str) -> object:
    """Return the JSON value, or the text where it is not JSON; validation refuses texts elsewhere."""
    if name in _TEXTS:
        return text
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    return value


def _read_options(query: dict[str, str], listed: tuple[str, ...] | None, media_type: str) -> ReadOptions:
    return ReadOptions(
        query.get("delimiter"),
        _mark("decimal", query.get("decimal"), _DECIMAL, "'.' or ','"),
        sheet=query.get("sheet"),
        thousands=_mark("thousands", query.get("thousands"), _THOUSANDS, "'.', ',', ' ' or \"'\""),
        date_format=query.get("date_format"),
        missing_values=listed,
        encoding=_mark("encoding", query.get("encoding"), _ENCODING, ", ".join(map(repr, get_args(TextEncoding)))),
        skip_rows=_skipped(query.get("skip_rows")),
        media_type=media_type,
    )


def _skipped(text: str | None) -> int | None:
    """Return the number of lines above a table; raises InvalidRequestError for another text."""
    if text is None:
        return None
    if not text.isdecimal() or int(text) > MAX_SKIPPED_ROWS:
        detail = f"Expected a whole number from 0 to {MAX_SKIPPED_ROWS:,}, got {text!r}."
        raise InvalidRequestError(f"The parameter 'skip_rows': {detail}", [Fault(detail, pointer="/skip_rows")])
    return int(text)


def _mark(name: str, text: str | None, kind: TypeAdapter[Mark], expected: str) -> Mark:
    """Return a separator; raises InvalidRequestError for another text."""
    try:
        return kind.validate_python(text)
    except ValidationError:
        detail = f"Expected {expected}, got {text!r}."
        raise InvalidRequestError(f"The parameter '{name}': {detail}", [Fault(detail, pointer=f"/{name}")]) from None


Support = Annotated[
    float | None,
    Field(
        description="The support of the training data, from 0 to 1. Near 0, the point is far from all training rows, "
        "and the prediction falls back to the average. Null where the model can't determine it."
    ),
]


Explanation = Annotated[
    Sequence[Contribution] | None,
    Field(description="With `explain`: the functions with the largest contributions, in descending order."),
]


ExplainedSum = Annotated[
    ExplanationSum | None,
    Field(description="With `explain`: the sum of all contributions."),
]


class RealOut(BaseModel):
    """A number, as a Gaussian; `lower` and `upper` enclose it with the probability `interval`."""

    mean: float
    sd: float
    variance: Variance
    lower: float
    upper: float
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplainedSum = None


class ClassOut(BaseModel):
    """A class: the most probable one, and the probabilities of all."""

    label: Label
    probabilities: Sequence[ClassProbability] = Field(
        description="Under the frequencies of classes in the training rows, or under `class_priors`."
    )
    latent: Latent | Sequence[ClassLatent] = Field(description="One for two classes; for three and more, one each.")
    support: Support
    explanation: Explanation = None
    explanation_sum: ExplainedSum = None
    decision: Decision | None = Field(
        None, description="With `class_priors`, `costs` or `reject_cost`; otherwise absent."
    )


class ValueOut(BaseModel):
    """The value of a known function."""

    value: float


class ComponentsRowOut(BaseModel):
    """The principal components of a row in feature space, and its novelty."""

    components: Sequence[float] = Field(
        description="The first principal components, by descending variance: at most `components`, by default 10."
    )
    reconstruction_error: float = Field(
        description="The share of the row's image that is not in these components, from 0 to 1."
    )
    log_density: float = Field(
        description="The log likelihood of the row's image, from all components, in nats and up to a constant. "
        "Comparable between rows, not between versions."
    )
    novelty: float = Field(
        description="The share of rows like the training rows with a higher log density, from 0 to 1: of such rows "
        "one in twenty is above 0.95."
    )


@dataclass(frozen=True, kw_only=True)
class RowProblemOut(ProblemDetails):
    """The problem of a row without a prediction."""

    status: int
    errors: Sequence[Fault]


class RowErrorOut(BaseModel):
    """An invalid row with `"on_error": "per_row"`, in place of its prediction."""

    error: RowProblemOut


class PredictionsOut(BaseModel):
    """The predictions, one for each row, in their order."""

    model: str
    version: int
    predictions: Sequence[RealOut | ClassOut | ValueOut | ComponentsRowOut | RowErrorOut] = Field(
        description="With the members in `outputs`."
    )
    unknown_categories: Sequence[UnknownCategory] | None = Field(
        None,
        description="The cells with categories that no training row had, whose rows are predicted as averages over the "
        "known categories: the first 100, by row. Absent if there are none.",
    )
    nulls: Sequence[MissingValue] | None = Field(
        None,
        description="The cells without a value, whose rows are predicted as averages over values of training rows: the "
        "first 100, by row. Absent if there are none.",
    )
    covariance: Sequence[Sequence[float | None]] | None = Field(
        None,
        description="With `covariance`: the covariance of the errors of each two predictions, in the target's units "
        "squared. The diagonal is `variance.total`, so that the variance of a sum of predictions is the sum of all "
        "entries. Null in the rows and columns of rows without a prediction.",
    )
