"""Reports of trainings in a document, without members that the document has elsewhere."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Generic, TypeAlias, TypeVar

from relevance_bayes.documents.former_members import DOCUMENTS, renamed
from relevance_bayes.documents.models import ApproximationReport, ComponentsReport, SupervisedReport
from relevance_bayes.documents.models.earlier import EarlierModel, upgraded_report
from relevance_bayes.documents.schema import (
    ApproximationDocument,
    CategoryInput,
    ComponentsDocument,
    Inputs,
    SupervisedDocument,
)
from relevance_bayes.documents.values import json_members, value_faults
from relevance_bayes.tables.encoding import EncodedTarget, InputEncoding
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.records import Converter, encode

MAX_FAULTS = 20

INPUT_ORDER = "input_order"
"""The member of a plan with the names of the inputs in the user's order, where a document has them in another."""

NUMBER_FORMS = "number_forms"
"""The member of a plan with the forms of numbers in files, by input, where there are any."""

KINDS = {"calendar": "timestamp", "logarithm": "number", "effects": "category"}
"""The kinds of columns that documents have by their encoding."""

EARLIER_DEFAULTS: Sequence[tuple[str, object]] = (
    ("dates", "time"),
    ("text", "leave_out"),
    ("budget", None),
    ("keep_rows", True),
    ("positive_class", None),
)
"""Members of plans that are left out at these values, those of releases without the members, whatever the defaults of
requests are."""

R = TypeVar("R")

Members: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Reports(Generic[R]):
    """The reports of a kind of task; members `given` in a report, or `planned` in its plan, are the document's."""

    converter: Converter[R]
    given: frozenset[str]
    planned: frozenset[str]

    def reported(self, report: R, encoding: InputEncoding) -> Members:
        """Return the report without members that the document has elsewhere, where the inputs are in the order of the
        encoding."""
        whole = _object(encode(report))
        plan = _object(whole["plan"])
        names = _names(plan["inputs"])
        added: Members = {} if names == [column.name for column in encoding.inputs] else {INPUT_ORDER: names}
        inputs = map(_object, _list(plan["inputs"]))
        if forms := {str(column["name"]): column["form"] for column in inputs if column.get("form") is not None}:
            added[NUMBER_FORMS] = forms
        return {
            **{name: value for name, value in whole.items() if name not in self.given},
            "plan": {name: value for name, value in plan.items() if name not in self.planned} | added,
        }

    def read(self, sent: Members, given: Members, planned: Members) -> R:
        """Return the complete report of a document; raises InvalidRequestError."""
        assert given.keys() == self.given
        assert planned.keys() == self.planned
        plan = sent.get("plan")
        if not isinstance(plan, dict):
            detail = "Expected an object."
            raise InvalidRequestError(f"At /report/plan: {detail}", [Fault(detail, "/report/plan")])
        faults = [*_repeated(sent, given, "/report"), *_repeated(plan, planned, "/report/plan")]
        faults += islice(value_faults(sent, "/report"), MAX_FAULTS)
        if faults:
            raise _refusal(faults)
        names = _names(planned["inputs"])
        order = plan.get(INPUT_ORDER, names)
        if not isinstance(order, list) or len(order) != len(names) or not all(name in order for name in names):
            raise _refusal([Fault("Expected the names of all inputs.", f"/report/plan/{INPUT_ORDER}")])
        forms = plan.get(NUMBER_FORMS, {})
        if not isinstance(forms, dict) or not forms.keys() <= {*names}:
            raise _refusal([Fault("Expected forms of numbers by the names of inputs.", f"/report/plan/{NUMBER_FORMS}")])
        columns = {
            name: {**_object(column), "form": forms[name]} if name in forms else column
            for name, column in zip(names, _list(planned["inputs"]), strict=True)
        }
        inputs = [columns[name] for name in (_list(order) if INPUT_ORDER in plan else names)]
        others = {name: value for name, value in plan.items() if name not in {INPUT_ORDER, NUMBER_FORMS}}
        whole: Members = {**sent, **given, "plan": {**others, **planned, "inputs": inputs}}
        report = self.converter.decode(whole, "/report")
        strange = unknown(whole, encode(report), "/report")
        if strange:
            raise _refusal(strange)
        return report


def _refusal(faults: Sequence[Fault]) -> InvalidRequestError:
    return InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


SUPERVISED: Reports[SupervisedReport] = Reports(
    Converter(SupervisedReport),
    given=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "target", "target_kind", "classes", "inputs", "noise_column"}),
)
APPROXIMATIONS: Reports[ApproximationReport] = Reports(
    Converter(ApproximationReport),
    given=frozenset({"task", "functions"}),
    planned=frozenset({"task", "model", "inputs", "constant"}),
)
COMPONENTS: Reports[ComponentsReport] = Reports(
    Converter(ComponentsReport),
    given=frozenset({"task", "functions", "noise_variance", "log_marginal_likelihood"}),
    planned=frozenset({"task", "model", "inputs", "kernel"}),
)


def supervised_members(report: SupervisedReport, encoding: InputEncoding) -> Members:
    """Return the members without numbers that are not finite."""
    whole = SUPERVISED.reported(report, encoding)
    metrics, alternatives = _object(whole["metrics"]), whole["alternatives"]
    assert isinstance(alternatives, list)
    for name in ("calendar", "logarithms", "texts"):
        if whole[name] is None:  # a release without it can import the document
            del whole[name]
    plan = {name: one for name, one in _object(whole["plan"]).items() if (name, one) not in EARLIER_DEFAULTS}
    return whole | {
        "plan": plan,
        "metrics": {name: _finite_members(figures) for name, figures in metrics.items()},
        "alternatives": [one for one in alternatives if isinstance(one, dict) and _is_finite([one["score"]])],
    }


def _finite_members(figures: object) -> Members:
    return {name: value for name, value in _object(figures).items() if _is_finite([value])}


def _object(value: object) -> Members:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _names(inputs: object) -> list[object]:
    return [_object(column)["name"] for column in _list(inputs)]


def _is_finite(values: Sequence[object]) -> bool:
    return all(not isinstance(value, float) or math.isfinite(value) for value in values)


def supervised_report(
    document: SupervisedDocument, target: EncodedTarget, functions: int, earlier: Sequence[EarlierModel] | None = None
) -> SupervisedReport:
    """Return the report; `earlier` are the models of a document of format version 1.

    Raises InvalidRequestError.
    """
    given: Members = {"task": document.task, "functions": functions}
    planned: Members = {
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
        sent = dict(
            json_members(renamed(upgraded_report(json_members(document.report), earlier, functions), DOCUMENTS))
        )
    return SUPERVISED.read(sent, given, planned)


def approximation_report(document: ApproximationDocument) -> ApproximationReport:
    """Return the report; raises InvalidRequestError."""
    model = document.model
    given: Members = {"task": document.task, "functions": len(model.coefficients)}
    planned: Members = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "constant": model.constant,
    }
    return APPROXIMATIONS.read(document.report, given, planned)


def components_report(document: ComponentsDocument) -> ComponentsReport:
    """Return the report; raises InvalidRequestError."""
    model = document.model
    given: Members = {
        "task": document.task,
        "functions": len(model.weights),
        "noise_variance": model.noise_variance,
        "log_marginal_likelihood": model.log_marginal_likelihood,
    }
    planned: Members = {
        "task": document.task,
        "model": document.source.model,
        "inputs": _columns(document.inputs),
        "kernel": encode(model.functions.kernel),
    }
    return COMPONENTS.read(document.report, given, planned)


def _columns(inputs: Inputs) -> object:
    return [
        {
            "name": column.name,
            "kind": KINDS.get(column.kind, column.kind),
            "categories": list[str](column.categories if isinstance(column, CategoryInput) else ()),
        }
        for column in inputs
    ]


def _repeated(sent: Mapping[str, object], given: Mapping[str, object], where: str) -> Iterator[Fault]:
    for name in sent.keys() & given.keys():
        yield Fault("The document has this member elsewhere.", f"{where}/{name}")


def unknown(sent: object, known: object, where: str) -> list[Fault]:
    """Return a fault for each member of `sent` that is not in `known`."""
    if isinstance(sent, dict) and isinstance(known, dict):
        strange = [Fault(f"The member {name!r} is unknown.", where) for name in sent if name not in known]
        return strange + list(
            chain.from_iterable(unknown(sent[name], known[name], f"{where}/{name}") for name in sent if name in known)
        )
    if isinstance(sent, list) and isinstance(known, list):
        pairs = enumerate(zip(sent, known, strict=False))
        return list(chain.from_iterable(unknown(one, other, f"{where}/{place}") for place, (one, other) in pairs))
    return []
