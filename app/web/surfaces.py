"""Predictions over both inputs of versions with two numbers as inputs."""

from dataclasses import dataclass

import numpy as np

from app.prediction import PredictRequest, ServedVersion, predict
from relevance_bayes.records.baselines import NumberHistogram
from relevance_bayes.records.values import text_of
from relevance_bayes.tables.columns import NumberColumn
from relevance_bayes.tasks.prediction import Probabilities

NODES = 51
"""The values of each input, at equal distances over its range."""

MAX_CLASSES = 5
"""The most classes that a figure has colours for."""


@dataclass(frozen=True)
class Field:
    """A mean, or the probability of a class, at each node: (NODES * NODES,), the first input varying fastest."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Surface:
    """The predictions at the nodes `xs` and `ys` of both inputs."""

    target: str
    inputs: tuple[str, str]
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    is_classes: bool
    fields: tuple[Field, ...]


def surface_of(served: ServedVersion) -> Surface | None:
    """Return the surface of a version; None where it has not exactly two inputs, both numbers with a range."""
    baseline, target = served.version.report.baseline, served.model.target
    if baseline is None or target is None or len(served.columns) != 2 or len(served.model.classes) > MAX_CLASSES:
        return None
    ranges: list[tuple[float, float]] = []
    for one in baseline.inputs:
        if isinstance(one, NumberHistogram) and one.kind == "number" and one.min is not None and one.max is not None:
            ranges.append((one.min, one.max))
    if len(ranges) != 2 or any(low >= high for low, high in ranges):
        return None
    (first, _), (second, _) = served.columns
    xs, ys = (np.linspace(low, high, NODES) for low, high in ranges)
    block = {first: NumberColumn(np.tile(xs, NODES)), second: NumberColumn(np.repeat(ys, NODES))}
    found = predict(served, PredictRequest(block, refuses=True)).compared
    if isinstance(found, Probabilities):
        names = [text_of(label) for label in found.classes]
        fields = tuple(Field(name, tuple(p.tolist())) for name, p in zip(names, found.probabilities.T, strict=True))
    else:
        fields = (Field(target[0], tuple(found.mean.tolist())),)
    is_classes = isinstance(found, Probabilities)
    return Surface(target[0], (first, second), tuple(xs.tolist()), tuple(ys.tolist()), is_classes, fields)
