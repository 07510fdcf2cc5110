"""Comparisons as JSON: their OpenAPI schemas, and from the request's body to the bytes of the response."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.errors import TooLargeError
from app.evaluation.comparison import (
    AT,
    ComparedClasses,
    ComparedNumbers,
    compare,
    noise_columns,
    require_one_question,
)
from app.formats.cells import refuse
from app.formats.json_table import has_column, read_json, typed_block
from app.http.bodies import MAX_MEMBERS, checked
from app.http.rate_limits import charge_rows, check_rows
from app.prediction import ServedVersion
from app.prediction.json_codec import max_containers
from app.prediction.runner import max_averaged
from app.prediction.schemas import ValueOut
from app.prediction.served_versions import ServedVersions
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import Fault, NotFoundError
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.records.models import Reference, VersionSelector
from relevance_bayes.records.predictions import ClassProbability
from relevance_bayes.records.values import Cell, ColumnKind, Label
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.prediction import Means, PredictOptions


class VersionIn(BaseModel):
    """A version of a model, by number or alias."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    version: VersionSelector | None = Field(None, description="Default: the newest version.")


class CompareOptions(BaseModel):
    """The options of a comparison, beside the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: str | VersionIn = Field(
        alias="with", description="The second version: `model@alias`, `model@3`, `model` for the newest, or an object."
    )

    @property
    def reference(self) -> Reference:
        """Return the reference to the second version; raises NotFoundError where it can name no version."""
        if isinstance(self.other, str):
            return Reference.read(self.other)
        return Reference(self.other.model, self.other.version)


class CompareColumnsIn(CompareOptions):
    """A table as columns."""

    columns: dict[str, list[Cell]]


class CompareRecordsIn(CompareOptions):
    """A table as rows, each an object by column names."""

    rows: list[dict[str, Cell]]


class CompareArraysIn(CompareOptions):
    """A table as rows of cells, with the column names once."""

    names: list[str]
    rows: list[list[Cell]]


CompareIn: TypeAlias = CompareColumnsIn | CompareRecordsIn | CompareArraysIn
COMPARE_IN: TypeAdapter[CompareIn] = TypeAdapter(CompareIn)
"""The three forms of a table, for the OpenAPI document only: app.formats reads tables, and locates faults in them."""


class ComparedNumberOut(BaseModel):
    """A number as one version predicts it."""

    mean: float
    sd: float


class NumbersRowOut(BaseModel):
    """The predictions of two versions for a row."""

    first: ComparedNumberOut | ValueOut
    second: ComparedNumberOut | ValueOut
    difference: float = Field(description="The mean (or value) of the second version less that of the first.")


class ComparedClassOut(BaseModel):
    """The probability of a class as one version predicts it; 0 for a class that only the other version knows."""

    label: Label
    probabilities: Sequence[ClassProbability]


class ClassesRowOut(BaseModel):
    """The predictions of two versions for a row."""

    first: ComparedClassOut
    second: ComparedClassOut
    total_variation: float = Field(
        description="The total variation distance: half the sum of the absolute differences of the probabilities, from "
        "0 (equal) to 1."
    )


class LargestDifferenceOut(BaseModel):
    """The row, from 0, with the greatest difference."""

    row: int
    difference: float


class LargestVariationOut(BaseModel):
    """The row, from 0, with the greatest total variation."""

    row: int
    total_variation: float


class _Summary(BaseModel):
    """The number of rows that a summary is of."""

    rows: int


class NumbersSummaryOut(_Summary):
    """Figures over all rows; null without rows."""

    mean_difference: float | None = Field(description="Above 0 where the second version predicts more on average.")
    mean_absolute_difference: float | None
    largest: LargestDifferenceOut | None


class ClassesSummaryOut(_Summary):
    """Figures over all rows; null without rows."""

    labels_differ: int = Field(description="The number of rows whose most probable class differs.")
    mean_total_variation: float | None
    largest: LargestVariationOut | None


class _Comparison(BaseModel):
    """The two versions of a comparison."""

    first: VersionName
    second: VersionName


class NumbersComparisonOut(_Comparison):
    """A comparison of two versions of numbers."""

    summary: NumbersSummaryOut
    rows: Sequence[NumbersRowOut]


class ClassesComparisonOut(_Comparison):
    """A comparison of two versions of classes."""

    summary: ClassesSummaryOut
    rows: Sequence[ClassesRowOut]


Row = Mapping[str, object]

_OPTIONS: TypeAdapter[CompareOptions] = TypeAdapter(CompareOptions)


def comparison_json(prediction: ServedVersions, owner: str, reference: Reference, body: bytes, max_rows: int) -> bytes:
    """Return the response; raises NotFoundError, ConflictError, RateLimitError, errors of the body."""
    check_rows()
    first = prediction.version(owner, *reference)
    columns_of_a_row = max(MAX_MEMBERS, 2 * len(first.columns))
    raw = read_json(body, max_columns=columns_of_a_row, others=("with",), max_containers=max_containers(max_rows))
    second = _second(prediction, owner, checked(_OPTIONS, raw.others))
    require_one_question(first, second)
    columns: list[tuple[str, ColumnKind]] = [*first.columns]
    columns += [(name, "number") for name in noise_columns(first, second) if has_column(raw, name)]
    block, cell_faults = typed_block(raw, columns, not_read=first.not_read | second.not_read)
    if (rows := block_rows(block)) > max_rows:
        raise TooLargeError(f"Expected at most {max_rows} rows, got {rows}; send the table in parts.")
    refuse(cell_faults)
    compared = compare(first, second, block, options=PredictOptions(max_averaged=max_averaged(max_rows)))
    charge_rows(compared.cost)
    refuse(compared.faults)
    summary, reported = _numbers(compared) if isinstance(compared, ComparedNumbers) else _classes(compared)
    whole = {"first": _name(first), "second": _name(second), "summary": {"rows": rows, **summary}, "rows": reported}
    return orjson.dumps(whole, option=orjson.OPT_SERIALIZE_NUMPY)


def _second(prediction: ServedVersions, owner: str, options: CompareOptions) -> ServedVersion:
    try:
        return prediction.version(owner, *options.reference)
    except NotFoundError as error:
        raise NotFoundError(error.detail, [Fault(error.detail, AT)]) from error


def _name(served: ServedVersion) -> Row:
    return {"model": served.version.model, "version": served.version.number}


def _numbers(compared: ComparedNumbers) -> tuple[Row, Sequence[Row]]:
    difference = compared.difference
    summary = {
        "mean_difference": _mean(difference),
        "mean_absolute_difference": _mean(np.abs(difference)),
        "largest": _largest("difference", difference),
    }
    reported = zip(_values(compared.first), _values(compared.second), difference.tolist(), strict=True)
    return summary, [{"first": one, "second": other, "difference": apart} for one, other, apart in reported]


def _values(numbers: Means) -> Sequence[Row]:
    if numbers.sd is None:
        return [{"value": value} for value in numbers.mean.tolist()]
    return [{"mean": mean, "sd": sd} for mean, sd in zip(numbers.mean.tolist(), numbers.sd.tolist(), strict=True)]


def _classes(compared: ComparedClasses) -> tuple[Row, Sequence[Row]]:
    variation = compared.total_variation
    first, second = compared.labels
    summary = {
        "labels_differ": int((first != second).sum()),
        "mean_total_variation": _mean(variation),
        "largest": _largest("total_variation", variation),
    }
    ones = _labelled(compared.classes, compared.first, first.tolist())
    others = _labelled(compared.classes, compared.second, second.tolist())
    reported = zip(ones, others, variation.tolist(), strict=True)
    return summary, [{"first": one, "second": other, "total_variation": apart} for one, other, apart in reported]


def _labelled(classes: Sequence[Label], probabilities: Array, places: Sequence[int]) -> Sequence[Row]:
    return [
        {
            "label": classes[place],
            "probabilities": [{"label": label, "probability": p} for label, p in zip(classes, row, strict=True)],
        }
        for place, row in zip(places, probabilities.tolist(), strict=True)
    ]


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _largest(name: str, values: Array) -> Row | None:
    """Return the row with the greatest absolute value, the first of several."""
    if not len(values):
        return None
    row = int(np.abs(values).argmax())
    return {"row": row, name: float(values[row])}
