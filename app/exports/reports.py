"""What a training told of itself, in a document: without what the document says elsewhere."""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import chain

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.encoding import Encoding
from app.domain.errors import Fault, InvalidRequestError
from app.domain.models import SupervisedReport
from app.exports.schema import CategoryInput, VersionDocument

REPORT = TypeAdapter(SupervisedReport)

SAID_BEFORE = frozenset({"task", "functions"})
"""What of a report follows from the rest of the document, and ..."""

PLANNED_BEFORE = frozenset({"task", "model", "target", "target_kind", "classes", "inputs", "noise_column"})
"""... what of its plan."""


class ReportError(Exception):
    """The report of a document is none; `cause` is what pydantic says, of the report `sent`."""

    def __init__(self, cause: ValidationError, sent: dict[str, JsonValue]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.sent = sent


def told(report: SupervisedReport) -> dict[str, JsonValue]:
    """Without what the document says elsewhere, and without figures that are no finite numbers."""
    whole: dict[str, JsonValue] = REPORT.dump_python(report, mode="json")
    plan, metrics, contenders = whole["plan"], whole["metrics"], whole["contenders"]
    assert isinstance(plan, dict)
    assert isinstance(metrics, dict)
    assert isinstance(contenders, list)
    said = {name: value for name, value in whole.items() if name not in SAID_BEFORE}
    return said | {
        "plan": {name: value for name, value in plan.items() if name not in PLANNED_BEFORE},
        "metrics": {name: _finite_members(figures) for name, figures in metrics.items()},
        "contenders": [one for one in contenders if isinstance(one, dict) and _all_finite([one["score"]])],
    }


def _finite_members(figures: JsonValue) -> JsonValue:
    assert isinstance(figures, dict)
    return {name: value for name, value in figures.items() if _all_finite([value])}


def _all_finite(values: Sequence[JsonValue]) -> bool:
    return all(not isinstance(value, float) or math.isfinite(value) for value in values)


def report_of(document: VersionDocument, encoding: Encoding, functions: int) -> SupervisedReport:
    """The report of a document, whole again; raises InvalidRequestError, ReportError."""
    sent = document.report
    plan = sent.get("plan")
    if not isinstance(plan, dict):
        detail = "This member is required, and is an object."
        raise InvalidRequestError(f"At /report/plan: {detail}", [Fault(detail, "/report/plan")])
    target, inputs = encoding.target, document.inputs
    said: dict[str, JsonValue] = {"task": document.task, "functions": functions}
    planned: dict[str, JsonValue] = {
        "task": document.task,
        "model": document.source.model,
        "target": target.name,
        "target_kind": target.kind,
        "classes": list(target.classes),
        "inputs": [
            {
                "name": column.name,
                "kind": column.kind,
                "categories": list[JsonValue](column.categories if isinstance(column, CategoryInput) else ()),
            }
            for column in inputs
        ],
        "noise_column": target.noise_column,
    }
    assert said.keys() == SAID_BEFORE
    assert planned.keys() == PLANNED_BEFORE
    faults = [*_repeated(sent, said, "/report"), *_repeated(plan, planned, "/report/plan")]
    whole: dict[str, JsonValue] = {**sent, **said, "plan": {**plan, **planned}}
    try:
        # From text, because only there strictness knows that JSON has neither UUIDs nor tuples.
        report = REPORT.validate_json(json.dumps(whole), strict=True)
    except ValidationError as error:
        raise ReportError(error, whole) from error
    faults += unknown(whole, REPORT.dump_python(report, mode="json"), "/report")
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)
    return report


def _repeated(sent: dict[str, JsonValue], said: dict[str, JsonValue], where: str) -> Iterator[Fault]:
    for name in sent.keys() & said.keys():
        yield Fault("The document says this elsewhere.", f"{where}/{name}")


def unknown(sent: JsonValue, known: JsonValue, where: str) -> list[Fault]:
    """Members of `sent` that what was made of it, `known`, has not."""
    if isinstance(sent, dict) and isinstance(known, dict):
        strange = [Fault(f"There is no member {name!r} here.", where) for name in sent if name not in known]
        return strange + list(
            chain.from_iterable(unknown(sent[name], known[name], f"{where}/{name}") for name in sent if name in known)
        )
    if isinstance(sent, list) and isinstance(known, list):
        pairs = enumerate(zip(sent, known, strict=False))
        return list(chain.from_iterable(unknown(one, other, f"{where}/{place}") for place, (one, other) in pairs))
    return []
