"""Raw columns, each a named input of the model, as the encoded matrix X (N, d)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper

from app.exports.onnx_file.graph import Graph, Value
from relevance_bayes.records.values import Period
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    InputEncoding,
)
from relevance_bayes.tables.encoding.columns import DAY, FIRST_MONDAY, SECONDS

MAX_SCALED = 1e75
"""The maximum magnitude of encoded numbers in rows that can be predicted, as in the service."""

GAP = ""
"""The missing value of text columns; of numbers it is NaN."""


@dataclass(frozen=True)
class Encoded:
    """X (N, d), and a column (N, 1), NaN where a row can't be predicted, else 0.

    `noise_sd` (N, 1) where rows have their own.
    """

    matrix: Value
    unsound: Value
    noise_sd: Value | None = None


def declared(encoding: InputEncoding, names: Sequence[str], noise_column: str | None = None) -> list[ValueInfoProto]:
    """Return the inputs in the order of `names`: float64, or string for categories, one for each row."""
    columns = {column.name: column for column in encoding.inputs}
    numbers = [] if noise_column is None else [_declared(noise_column, TensorProto.DOUBLE)]
    return [
        *(
            _declared(name, TensorProto.DOUBLE if isinstance(columns[name], EncodedNumber) else TensorProto.STRING)
            for name in names
        ),
        *numbers,
    ]


def _declared(name: str, kind: TensorProto.DataType) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, ["rows"])


def encoded(graph: Graph, encoding: InputEncoding) -> Encoded:
    """Encode all columns; a row with a missing value that is not accepted, or an unknown category, is NaN."""
    matrix = graph.beside([part for column in encoding.inputs for part in _columns(graph, column)])
    return Encoded(matrix, graph.sum(matrix, 1) * 0.0)


def with_noise(rows: Encoded, target: EncodedTarget, noise_sd: float | None) -> Encoded:
    """Return the rows, each with its own noise sd, or `noise_sd` where it has none."""
    if target.noise_column is None or noise_sd is None:
        return rows
    noise = _noise(rows.matrix.graph, target, target.noise_column, noise_sd)
    return Encoded(rows.matrix, rows.unsound + noise * 0.0, noise)


def _raw(graph: Graph, name: str) -> Value:
    return graph.node("Unsqueeze", Value(graph, name), graph.constant(np.array([1], np.int64)))


def _columns(graph: Graph, column: EncodedInput) -> list[Value]:
    raw = _raw(graph, column.name)
    match column:
        case EncodedNumber():
            return _scaled_number(graph, column, raw)
        case EncodedCategory():
            return _category(graph, column, raw)
        case EncodedEffects():
            return _effects(graph, column, raw)


def _effects(graph: Graph, column: EncodedEffects, raw: Value) -> list[Value]:
    gap = graph.node("Equal", raw, graph.texts((GAP,)))
    places = graph.node("Equal", raw, graph.texts(column.categories)).as_number()
    effects = graph.node("MatMul", places, graph.constant(np.array(column.effects).T.copy()))
    missing = np.nan if column.fill is None else 0.0
    reported = effects if GAP in column.categories else graph.where(gap, missing, effects)
    return [reported, *([gap.as_number()] if column.indicator else [])]


def _scaled_number(graph: Graph, column: EncodedNumber, raw: Value) -> list[Value]:
    gap = graph.node("IsNaN", raw)
    filled = raw if column.fill is None else graph.where(gap, column.fill, raw)
    if column.unit is not None:
        filled = graph.node("Sign", filled) * graph.node("Log", abs(filled) / column.unit + 1.0)
    scaled = (filled - column.shift) / column.scale
    sound = graph.node("LessOrEqual", abs(scaled), MAX_SCALED)
    positions = [part for period in column.periods for part in _position(graph, raw, gap, period)]
    return [graph.where(sound, scaled, np.nan), *positions, *([gap.as_number()] if column.indicator else [])]


def _position(graph: Graph, seconds: Value, gap: Value, period: Period) -> list[Value]:
    """Return sine and cosine of points in time within a period; 0 where missing."""
    if period == "week":
        seconds = graph.node("Floor", seconds / DAY) * DAY - FIRST_MONDAY
    turns = seconds / SECONDS[period]
    angles = (turns - graph.node("Floor", turns)) * (2.0 * np.pi)
    return [graph.where(gap, 0.0, graph.node("Sin", each)) for each in (angles, angles + 0.5 * np.pi)]


def _category(graph: Graph, column: EncodedCategory, raw: Value) -> list[Value]:
    places = graph.node("Equal", raw, graph.texts(column.categories)).as_number()
    known = graph.node("Greater", graph.sum(places, 1), 0.5)
    if column.fill is None or GAP in column.categories:
        reported = graph.where(known, places, np.nan)
        return [reported, *([graph.sum(places, 1) * 0.0] if column.indicator else [])]
    gap = graph.node("Equal", raw, graph.texts((GAP,)))
    reported = graph.where(known, places, graph.where(gap, np.array([column.fill]), np.nan))
    return [reported, *([gap.as_number()] if column.indicator else [])]


def _noise(graph: Graph, target: EncodedTarget, name: str, noise_sd: float) -> Value:
    """Return the noise sd of each row, in the units of t; that of the training rows for a row without one."""
    raw = _raw(graph, name)
    scaled = raw / target.scale
    sound = graph.node("And", graph.node("Greater", raw, 0.0), graph.node("LessOrEqual", scaled, MAX_SCALED))
    return graph.where(graph.node("IsNaN", raw), noise_sd, graph.where(sound, scaled, np.nan))
