"""What a training told of itself, in a document: without what the document says elsewhere."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from relevance_bayes.documents.former_members import DOCUMENTS, renamed
from relevance_bayes.documents.models import ApproximationReport, ComponentsReport, SupervisedReport
from relevance_bayes.documents.models.earlier import EarlierModel, today_report
from relevance_bayes.documents.schema import (
    ApproximationDocument,
    CategoryInput,
    ComponentsDocument,
    Inputs,
    SupervisedDocument,
)
from relevance_bayes.documents.values import value_faults
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.types.errors import Fault, InvalidRequestError

MAX_FAULTS = 20

R = TypeVar("R")

Json = dict[str, JsonValue]


class ReportError(Exception):
    """The report of a document is none; `cause` is what pydantic says, of the report `sent`."""

    def __init__(self, cause: ValidationError, sent: Json) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.sent = sent


@dataclass(frozen=True)
class Reports(Generic[R]):
    """Those of a kind of task; what is `said` in a report, and `planned` in its plan, follows from the document."""

    adapter: TypeAdapter[R]
    said: frozenset[str]
    planned: frozenset[str]

    def told(self, report: R) -> Json:
        """Without what the document says elsewhere."""
        whole: Json = self.adapter.dump_python(report, mode="json")
        plan = whole["plan"]
        assert isinstance(plan, dict)
        return {
            **{name: value for name, value in whole.items() if name not in self.said},
            "plan": {name: value for name, value in plan.items() if name not in self.planned},
        }

    def read(self, sent: Json, said: Json, planned: Json) -> R:
        """The report of a document, whole again; raises InvalidRequestError, ReportError."""
        assert said.keys() == self.said
        assert planned.keys() == self.planned
        plan = sent.get("plan")
        if not isinstance(plan, dict):
            detail = "This member is required, and is an object."
            raise InvalidRequestError(f"At /report/plan: {detail}", [Fault(detail, "/report/plan")])
        faults = [*_repeated(sent, said, "/report"), *_repeated(plan, planned, "/report/plan")]
        faults += islice(value_faults(sent, "/report"), MAX_FAULTS)
        if faults:
            raise _refusal(faults)
        whole: Json = {**sent, **said, "plan": {**plan, **planned}}
        try:
            # From text, because only there strictness knows that JSON has neither UUIDs nor tuples.
            report = self.adapter.validate_json(json.dumps(whole), strict=True)
        except ValidationError as error:
            raise ReportError(error, whole) from error
        strange = unknown(whole, self.adapter.dump_python(report, mode="json"), "/report")
        if strange:
            raise _refusal(strange)
        return report


def _refusal(faults: Sequence[Fault]) -> InvalidRequestError:
    return InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


SUPERVISED = Reports(
    TypeAdapter(SupervisedReport),
    said=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "target", "target_kind", "classes", "inputs", "noise_column"}),
)
APPROXIMATIONS = Reports(
    TypeAdapter(ApproximationReport),
    said=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "inputs", "constant"}),
)


COMPONENTS = Reports(
    TypeAdapter(ComponentsReport),
    said=frozenset({"task", "functions", "noise_variance", "log_marginal_likelihood"}),
    planned=frozenset({"task", "model", "inputs", "kernel"}),
)


def supervised_told(report: SupervisedReport) -> Json:
    """Without figures that are no finite numbers, too."""
    whole = SUPERVISED.told(report)
    metrics, alternatives = whole["metrics"], whole["alternatives"]
    assert isinstance(metrics, dict)
    assert isinstance(alternatives, list)
    return whole | {
        "metrics": {name: _finite_members(figures) for name, figures in metrics.items()},
        "alternatives": [one for one in alternatives if isinstance(one, dict) and _all_finite([one["score"]])],
    }


def _finite_members(figures: JsonValue) -> JsonValue:
    assert isinstance(figures, dict)
    return {name: value for name, value in figures.items() if _all_finite([value])}


def _all_finite(values: Sequence[JsonValue]) -> bool:
    return all(not isinstance(value, float) or math.isfinite(value) for value in values)


def supervised_report(
    document: SupervisedDocument, target: EncodedTarget, functions: int, earlier: Sequence[EarlierModel] | None = None
) -> SupervisedReport:
    """The report; `earlier` are the models of a document of format version 1.

    Raises InvalidRequestError, ReportError.
    """
    said: Json = {"task": document.task, "functions": functions}
    planned: Json = {
        "task": document.task,
        "model": document.source.model,
        "target": target.name,
        "target_kind": target.kind,
        "classes": list(target.classes),
        "inputs": _columns(document.inputs),
        "noise_column": target.noise_column,
    }
    sent = document.report
    if earlier is not None:
        report = renamed(today_report(document.report, earlier, functions), DOCUMENTS)
        sent = report if isinstance(report, dict) else {}
    return SUPERVISED.read(sent, said, planned)


def approximation_report(document: ApproximationDocument) -> ApproximationReport:
    """Raises InvalidRequestError, ReportError."""
    model = document.model
    said: Json = {"task": document.task, "functions": len(model.coefficients)}
    planned: Json = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "constant": model.constant,
    }
    return APPROXIMATIONS.read(document.report, said, planned)


def components_report(document: ComponentsDocument) -> ComponentsReport:
    """Raises InvalidRequestError, ReportError."""
    model = document.model
    said: Json = {
        "task": document.task,
        "functions": len(model.weights),
        "noise_variance": model.noise_variance,
        "log_marginal_likelihood": model.log_marginal_likelihood,
    }
    planned: Json = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "kernel": model.functions.model_dump(mode="json")["kernel"],
    }
    return COMPONENTS.read(document.report, said, planned)


def _columns(inputs: Inputs) -> JsonValue:
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "categories": list[JsonValue](column.categories if isinstance(column, CategoryInput) else ()),
        }
        for column in inputs
    ]


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
