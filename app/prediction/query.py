"""Prediction options as query parameters, for formats of bodies without options."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from pydantic import TypeAdapter, ValidationError

from app.formats.options import Decimal, OptionName, ReadOptions, Thousands
from app.http.bodies import checked
from app.prediction.schemas.predict import PredictOptionsIn
from relevance_bayes.types.errors import Fault, InvalidRequestError

_OPTIONS: TypeAdapter[PredictOptionsIn] = TypeAdapter(PredictOptionsIn)
_DECIMAL: TypeAdapter[Decimal | None] = TypeAdapter(Decimal | None)
_THOUSANDS: TypeAdapter[Thousands | None] = TypeAdapter(Thousands | None)
_TEXTS = frozenset({"on_error", "outputs", "row_ids", "unknown_categories"})

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
    _once([name for name, _ in query if name != "outputs"])
    raw: dict[str, object] = {name: _value(name, value) for name, value in pairs if name != "outputs"}
    outputs = [output for name, value in pairs if name == "outputs" for output in value.split(",")]
    if outputs:
        raw["outputs"] = outputs
    written = {name: value for name, value in query if name in row_options}
    return Requested(checked(_OPTIONS, raw, is_json=False), _read_options(written, media_type))


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


def _read_options(query: dict[str, str], media_type: str) -> ReadOptions:
    return ReadOptions(
        query.get("delimiter"),
        _mark("decimal", query.get("decimal"), _DECIMAL, "'.' or ','"),
        sheet=query.get("sheet"),
        thousands=_mark("thousands", query.get("thousands"), _THOUSANDS, "'.', ',', ' ' or \"'\""),
        date_format=query.get("date_format"),
        media_type=media_type,
    )


def _mark(name: str, text: str | None, kind: TypeAdapter[Mark], expected: str) -> Mark:
    """Return a separator; raises InvalidRequestError for another text."""
    try:
        return kind.validate_python(text)
    except ValidationError:
        detail = f"Expected {expected}, got {text!r}."
        raise InvalidRequestError(f"The parameter '{name}': {detail}", [Fault(detail, pointer=f"/{name}")]) from None
