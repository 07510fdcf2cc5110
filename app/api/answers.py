"""Predictions as bytes: from arrays to JSON without detours, since this is what the service does most."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from app.api.errors import KINDS, fault_members
from app.domain.errors import Fault, InvalidDataError
from app.services.prediction import ClassificationAnswer, RegressionAnswer, ServedVersion

REAL_OUTPUTS = ("mean", "sd", "variance", "interval")
CLASS_OUTPUTS = ("label", "probabilities", "latent")

Row = Mapping[str, object]


def outputs_of(served: ServedVersion) -> tuple[str, ...]:
    """The members that this version's predictions can have."""
    return CLASS_OUTPUTS if served.predictor.encoding.target.classes else REAL_OUTPUTS


def predictions_json(
    served: ServedVersion,
    answer: RegressionAnswer | ClassificationAnswer,
    *,
    outputs: Sequence[str],
    faults: Iterable[Fault] = (),
) -> bytes:
    """The whole answer; a row with a fault has its problem in its place."""
    rows: list[Row] = (
        _real_rows(answer, outputs) if isinstance(answer, RegressionAnswer) else _class_rows(answer, outputs)
    )
    for row, problem in _row_problems(faults).items():
        rows[row] = {"error": problem}
    version = served.version
    return orjson.dumps({"model": version.model, "version": version.number, "predictions": rows})


def _real_rows(answer: RegressionAnswer, outputs: Sequence[str]) -> list[Row]:
    mean, sd = answer.mean.tolist(), answer.sd.tolist()
    lower, upper = answer.lower.tolist(), answer.upper.tolist()
    variances = [
        {"total": total, "noise": noise, "weights": weights, "beyond": beyond}
        for total, noise, weights, beyond in zip(
            answer.total.tolist(), answer.noise.tolist(), answer.weights.tolist(), answer.beyond.tolist(), strict=True
        )
    ]
    if tuple(outputs) == REAL_OUTPUTS:
        return [
            {"mean": m, "sd": s, "variance": v, "lower": lo, "upper": up}
            for m, s, v, lo, up in zip(mean, sd, variances, lower, upper, strict=True)
        ]
    columns: dict[str, list[object]] = {}
    for output in outputs:
        columns |= {
            "mean": {"mean": mean},
            "sd": {"sd": sd},
            "variance": {"variance": variances},
            "interval": {"lower": lower, "upper": upper},
        }[output]
    return _rows(columns)


def _class_rows(answer: ClassificationAnswer, outputs: Sequence[str]) -> list[Row]:
    negative, positive = answer.classes
    probabilities = answer.probability.tolist()
    columns: dict[str, list[object]] = {}
    for output in outputs:
        match output:
            case "label":
                columns["label"] = [positive if p >= 0.5 else negative for p in probabilities]
            case "probabilities":
                columns["probabilities"] = [
                    [{"label": negative, "probability": 1.0 - p}, {"label": positive, "probability": p}]
                    for p in probabilities
                ]
            case _:
                columns["latent"] = [
                    {"mean": mean, "variance": variance}
                    for mean, variance in zip(answer.latent_mean.tolist(), answer.latent_variance.tolist(), strict=True)
                ]
    return _rows(columns)


def _rows(columns: Mapping[str, Sequence[object]]) -> list[Row]:
    names = tuple(columns)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _row_problems(faults: Iterable[Fault]) -> dict[int, Row]:
    """One problem for each row that has faults."""
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
            "errors": [fault_members(fault) for fault in found],
        }
        for row, found in by_row.items()
    }
