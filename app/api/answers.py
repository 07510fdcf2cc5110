"""Predictions as bytes: from arrays to JSON without detours, since this is what the service does most."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from app.api.errors import KINDS, fault_members
from app.domain.decisions import Decisions
from app.domain.errors import Fault, InvalidDataError
from app.domain.tables import Label
from app.services.answering import (
    Answer,
    ClassificationAnswer,
    ComponentsAnswer,
    ListedFunction,
    RegressionAnswer,
    ServedVersion,
    ValueAnswer,
)
from app.sparse_bayes.contributions import Contributions
from app.sparse_bayes.types import Array

REAL_OUTPUTS = ("mean", "sd", "variance", "interval", "support")
CLASS_OUTPUTS = ("label", "probabilities", "latent", "support")
VALUE_OUTPUTS = ("value",)
COMPONENTS_OUTPUTS = ("components", "reconstruction_error", "log_density", "novelty")

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "regression": REAL_OUTPUTS,
    "classification": CLASS_OUTPUTS,
    "approximation": VALUE_OUTPUTS,
    "image": VALUE_OUTPUTS,
    "components": COMPONENTS_OUTPUTS,
}
"""The members that a task's predictions can have."""

Row = Mapping[str, object]


def outputs_of(served: ServedVersion) -> tuple[str, ...]:
    """The members that this version's predictions can have."""
    return OUTPUTS[served.version.report.task]


def predictions_json(
    served: ServedVersion,
    answer: Answer,
    *,
    outputs: Sequence[str],
    faults: Iterable[Fault] = (),
) -> bytes:
    """The whole answer; a row with a fault has its problem in its place."""
    rows: list[Row]
    match answer:
        case RegressionAnswer():
            rows = _explained_rows(_real_rows(answer, outputs), answer.explanation, served.functions)
        case ClassificationAnswer():
            rows = _explained_rows(_class_rows(answer, outputs), answer.explanation, served.functions)
            if answer.decisions is not None:
                told = _decisions(answer.classes, answer.decisions)
                rows = [{**row, "decision": one} for row, one in zip(rows, told, strict=True)]
        case ValueAnswer():
            rows = [{"value": value} for value in answer.value.tolist()]
        case ComponentsAnswer():
            rows = _component_rows(answer, outputs)
    for row, problem in _row_problems(faults).items():
        rows[row] = {"error": problem}
    version = served.version
    whole: dict[str, object] = {"model": version.model, "version": version.number, "predictions": rows}
    if isinstance(answer, RegressionAnswer) and answer.covariance is not None:
        whole["covariance"] = answer.covariance
    return orjson.dumps(whole, option=orjson.OPT_SERIALIZE_NUMPY)


def _decisions(classes: Sequence[Label], decisions: Decisions) -> list[Row]:
    return [
        {"label": None if rejected else classes[place], "expected_cost": cost}
        for place, cost, rejected in zip(
            decisions.chosen.tolist(), decisions.expected_cost.tolist(), decisions.rejected.tolist(), strict=True
        )
    ]


def _explained_rows(
    rows: list[Row], explanation: Contributions | None, functions: Sequence[ListedFunction]
) -> list[Row]:
    """Each with what adds most to it, where that was asked for."""
    if explanation is None:
        return rows
    explained = _explanations(explanation, functions)
    return [{**row, "explanation": one} for row, one in zip(rows, explained, strict=True)]


def _explanations(explanation: Contributions, functions: Sequence[ListedFunction]) -> list[list[Row]]:
    return [
        [_explained(functions[place], one, share) for place, one, share in zip(places, added, shares, strict=True)]
        for places, added, shares in zip(
            explanation.functions.tolist(), explanation.added.tolist(), explanation.shares.tolist(), strict=True
        )
    ]


def _explained(function: ListedFunction, added: float, share: float) -> Row:
    return {
        "vector": function.number,
        "kind": function.kind,
        "row": function.row,
        "input": function.input,
        "contribution": added,
        "share": share,
    }


def _real_rows(answer: RegressionAnswer, outputs: Sequence[str]) -> list[Row]:
    mean, sd = answer.mean.tolist(), answer.sd.tolist()
    lower, upper = answer.lower.tolist(), answer.upper.tolist()
    support = _support(answer.support, len(mean))
    variances = [
        {"total": total, "noise": noise, "weights": weights, "beyond": beyond}
        for total, noise, weights, beyond in zip(
            answer.total.tolist(), answer.noise.tolist(), answer.weights.tolist(), answer.beyond.tolist(), strict=True
        )
    ]
    if tuple(outputs) == REAL_OUTPUTS:
        return [
            {"mean": m, "sd": s, "variance": v, "lower": lo, "upper": up, "support": near}
            for m, s, v, lo, up, near in zip(mean, sd, variances, lower, upper, support, strict=True)
        ]
    columns: dict[str, Sequence[object]] = {}
    for output in outputs:
        columns |= {
            "mean": {"mean": mean},
            "sd": {"sd": sd},
            "variance": {"variance": variances},
            "interval": {"lower": lower, "upper": upper},
            "support": {"support": support},
        }[output]
    return _rows(columns)


def _class_rows(answer: ClassificationAnswer, outputs: Sequence[str]) -> list[Row]:
    classes, probabilities = answer.classes, answer.probabilities.tolist()
    columns: dict[str, Sequence[object]] = {}
    for output in outputs:
        match output:
            case "label":
                columns["label"] = [classes[place] for place in answer.most_probable.tolist()]
            case "probabilities":
                columns["probabilities"] = [
                    [{"label": label, "probability": p} for label, p in zip(classes, row, strict=True)]
                    for row in probabilities
                ]
            case "support":
                columns["support"] = _support(answer.support, len(probabilities))
            case _:
                columns["latent"] = _latents(answer)
    return _rows(columns)


def _component_rows(answer: ComponentsAnswer, outputs: Sequence[str]) -> list[Row]:
    columns: Mapping[str, Sequence[object]] = {
        "components": answer.components.tolist(),
        "reconstruction_error": answer.missed.tolist(),
        "log_density": answer.log_density.tolist(),
        "novelty": answer.novelty.tolist(),
    }
    return _rows({output: columns[output] for output in outputs})


def _latents(answer: ClassificationAnswer) -> list[object]:
    """One for two classes, a list of one for each where each has its own."""
    means, variances = answer.latent_mean.tolist(), answer.latent_variance.tolist()
    if answer.latent_mean.ndim == 1:
        return [{"mean": mean, "variance": variance} for mean, variance in zip(means, variances, strict=True)]
    return [
        [{"label": label, "mean": mean, "variance": variance} for label, mean in zip(answer.classes, row, strict=True)]
        for row, variance in zip(means, variances, strict=True)
    ]


def _support(support: Array | None, rows: int) -> Sequence[float | None]:
    return [None] * rows if support is None else support.tolist()


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
