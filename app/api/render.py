"""Predictions rendered in JSON: from arrays to JSON without detours, since this is what the service does most."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from app.api.errors import KINDS, fault_members
from app.domain.decisions import Decisions
from app.services.prediction import (
    ClassificationPrediction,
    ComponentsPrediction,
    Explanation,
    Prediction,
    RegressionPrediction,
    ServedVersion,
    ValuePrediction,
    piece_of,
    rows_of,
)
from relevance_bayes.core.types import Array
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.functions import ListedFunction
from relevance_bayes.types.values import Label

Row = Mapping[str, object]

Columns = dict[str, Sequence[object]]
"""What predictions have, by member and in their order, a value for each row."""

_ENCODER = msgspec.json.Encoder()

ROWS_AT_ONCE = 1_000
"""A piece of a long prediction: nobody else runs while it is encoded. Documents with a covariance are not longer."""


class Variance(msgspec.Struct, gc=False):
    """A variance and its three parts."""

    total: float
    noise: float
    weights: float
    residual: float


def predictions_json(
    served: ServedVersion,
    prediction: Prediction,
    *,
    outputs: Sequence[str],
) -> Iterator[bytes]:
    """The whole prediction, a long one in pieces; where a row has a fault is its problem."""
    version, problems = served.version, _row_problems(prediction.faults, 0)
    whole: dict[str, object] = {"model": version.model, "version": version.number, "predictions": []}
    if rows_of(prediction) <= ROWS_AT_ONCE:
        whole["predictions"] = _rows(prediction, outputs, served.functions, problems)
        if isinstance(prediction, RegressionPrediction) and prediction.covariance is not None:
            whole["covariance"] = prediction.covariance.tolist()
        yield _ENCODER.encode(whole)
        return
    before = _ENCODER.encode(whole).removesuffix(b"]}")
    for some, theirs in _pieces(prediction, problems):
        yield before + _ENCODER.encode(_rows(some, outputs, served.functions, theirs))[1:-1]
        before = b","
    yield b"]}"


def _rows(
    prediction: Prediction, outputs: Sequence[str], functions: Sequence[ListedFunction], problems: Mapping[int, Row]
) -> list[object]:
    columns = _columns(prediction, outputs, functions)
    # Structs, because these are made without a step of Python for each row.
    rows: list[object] = [*map(_row_of(tuple(columns)), *columns.values())]
    for row, problem in problems.items():
        rows[row] = {"error": problem}
    return rows


def prediction_lines(
    served: ServedVersion,
    prediction: Prediction,
    *,
    outputs: Sequence[str],
    first_row: int = 0,
) -> Iterator[bytes]:
    """The predictions alone, on each line one, many lines at a time; problems count rows from `first_row`."""
    problems = _row_problems(prediction.faults, first_row)
    for some, theirs in _pieces(prediction, problems):
        yield _ENCODER.encode_lines(_rows(some, outputs, served.functions, theirs))


def _pieces(prediction: Prediction, problems: Mapping[int, Row]) -> Iterator[tuple[Prediction, Mapping[int, Row]]]:
    """Pieces of a long prediction, each with the problems of its own rows."""
    for first in range(0, rows_of(prediction), ROWS_AT_ONCE):
        theirs = {row - first: problem for row, problem in problems.items() if 0 <= row - first < ROWS_AT_ONCE}
        yield piece_of(prediction, slice(first, first + ROWS_AT_ONCE)), theirs


def _columns(prediction: Prediction, outputs: Sequence[str], functions: Sequence[ListedFunction]) -> Columns:
    match prediction:
        case RegressionPrediction():
            return _real_columns(prediction, outputs) | _explanations(prediction.explanation, functions)
        case ClassificationPrediction():
            columns = _class_columns(prediction, outputs) | _explanations(prediction.explanation, functions)
            if prediction.decisions is not None:
                columns["decision"] = _decisions(prediction.classes, prediction.decisions)
            return columns
        case ValuePrediction():
            return {"value": prediction.value.tolist()}
        case ComponentsPrediction():
            return _component_columns(prediction, outputs)


@lru_cache(maxsize=1_000)
def _row_of(members: tuple[str, ...]) -> type[msgspec.Struct]:
    return msgspec.defstruct("Prediction", members)


def _decisions(classes: Sequence[Label], decisions: Decisions) -> list[Row]:
    return [
        {"label": None if rejected else classes[place], "expected_cost": cost}
        for place, cost, rejected in zip(
            decisions.chosen.tolist(), decisions.expected_cost.tolist(), decisions.rejected.tolist(), strict=True
        )
    ]


def _explanations(explanation: Explanation | None, functions: Sequence[ListedFunction]) -> Columns:
    """What adds most to each row, and what all adds up to, where that was asked for."""
    if explanation is None:
        return {}
    told = [
        [_explained(functions[place], one, share) for place, one, share in zip(places, added, shares, strict=True)]
        for places, added, shares in zip(
            explanation.functions.tolist(), explanation.added.tolist(), explanation.shares.tolist(), strict=True
        )
    ]
    sums = [
        {"baseline": explanation.baseline, "others": others, "mean": mean}
        for others, mean in zip(explanation.others.tolist(), explanation.mean.tolist(), strict=True)
    ]
    return {"explanation": told, "explanation_sum": sums}


def _explained(function: ListedFunction, added: float, share: float) -> Row:
    return {
        "vector": function.number,
        "kind": function.kind,
        "row": function.row,
        "input": function.input,
        "contribution": added,
        "share": share,
    }


def _real_columns(prediction: RegressionPrediction, outputs: Sequence[str]) -> Columns:
    columns: Columns = {}
    for output in outputs:
        match output:
            case "interval":
                columns["lower"], columns["upper"] = prediction.lower.tolist(), prediction.upper.tolist()
            case "variance":
                parts = (prediction.total, prediction.noise, prediction.weights, prediction.beyond)
                columns["variance"] = [*map(Variance, *(part.tolist() for part in parts))]
            case "support":
                columns["support"] = _support(prediction.support, len(prediction.mean))
            case "sd":
                columns["sd"] = prediction.sd.tolist()
            case _:
                columns["mean"] = prediction.mean.tolist()
    return columns


def _class_columns(prediction: ClassificationPrediction, outputs: Sequence[str]) -> Columns:
    classes, probabilities = prediction.classes, prediction.probabilities.tolist()
    columns: Columns = {}
    for output in outputs:
        match output:
            case "label":
                columns["label"] = [classes[place] for place in prediction.most_probable.tolist()]
            case "probabilities":
                columns["probabilities"] = [
                    [{"label": label, "probability": p} for label, p in zip(classes, row, strict=True)]
                    for row in probabilities
                ]
            case "support":
                columns["support"] = _support(prediction.support, len(probabilities))
            case _:
                columns["latent"] = _latents(prediction)
    return columns


def _component_columns(prediction: ComponentsPrediction, outputs: Sequence[str]) -> Columns:
    columns: Mapping[str, Sequence[object]] = {
        "components": prediction.components.tolist(),
        "reconstruction_error": prediction.missed.tolist(),
        "log_density": prediction.log_density.tolist(),
        "novelty": prediction.novelty.tolist(),
    }
    return {output: columns[output] for output in outputs}


def _latents(prediction: ClassificationPrediction) -> list[object]:
    """One for two classes, a list of one for each where each has its own."""
    means, variances = prediction.latent_mean, prediction.latent_variance
    if means.ndim == 1:
        pairs = zip(means.tolist(), variances.tolist(), strict=True)
        return [{"mean": mean, "variance": variance} for mean, variance in pairs]
    classes = prediction.classes
    each = variances.tolist() if variances.ndim > 1 else [[one] * len(classes) for one in variances.tolist()]
    return [
        [
            {"label": label, "mean": mean, "variance": variance}
            for label, mean, variance in zip(classes, row, spread, strict=True)
        ]
        for row, spread in zip(means.tolist(), each, strict=True)
    ]


def _support(support: Array | None, rows: int) -> Sequence[float | None]:
    return [None] * rows if support is None else support.tolist()


def _row_problems(faults: Iterable[Fault], first_row: int) -> dict[int, Row]:
    """One problem for each row that has faults, in which rows are counted from `first_row`."""
    kind = KINDS[InvalidDataError]
    by_row: dict[int, list[Fault]] = {}
    for fault in faults:
        if fault.row is not None:
            by_row.setdefault(fault.row, []).append(fault)
    return {
        row: {
            "type": kind.type,
            "title": kind.title,
            "status": kind.status,
            "detail": found[0].detail,
            "errors": [{**fault_members(fault), "row": first_row + row} for fault in found],
        }
        for row, found in by_row.items()
    }
