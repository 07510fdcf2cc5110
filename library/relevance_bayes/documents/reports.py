"""The report in a document: without what the rest of the document has, which is added when it is read."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TypeAlias, TypeVar

from pydantic import TypeAdapter

from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.records.errors import Fault, InvalidRequestError, pointer
from relevance_bayes.records.json import encode, validate
from relevance_bayes.records.versions import OtherMembers
from relevance_bayes.tables.encoding import EncodedCategory, EncodedInput, EncodedNumber
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.components.report import ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport


@dataclass(frozen=True, eq=False)
class _ExportedBase:
    """Version `number` of `model`, as trained.

    Each kind of task adds its `report` and its `predictor`, which is all that predictions need.
    """

    model: str
    number: int
    created_at: datetime

    @property
    def noise_column(self) -> str | None:
        """Return the optional column of each row's noise sd; None where there is none."""
        return None

    @property
    def has_rows(self) -> bool:
        """True if it predicts from training rows, so that it can't be exported as a program."""
        return False

    @property
    def averages_gaps(self) -> bool:
        """True if rows with missing values are averages over training rows, unless there is an indicator of them."""
        return False


@dataclass(frozen=True, eq=False)
class ExportedSupervised(_ExportedBase):
    """A version that predicts numbers or classes."""

    report: SupervisedReport
    predictor: SupervisedPredictor

    @property
    def noise_column(self) -> str | None:
        """Return the target's noise column."""
        return self.predictor.encoding.target.noise_column

    @property
    def has_rows(self) -> bool:
        """True for a nearest-neighbour process."""
        return isinstance(self.predictor.learned, LocalModel)

    @property
    def averages_gaps(self) -> bool:
        """True: missing values are drawn from training rows, or from histograms of them."""
        return True


@dataclass(frozen=True, eq=False)
class ExportedApproximation(_ExportedBase):
    """An approximation of a known function by few terms."""

    report: ApproximationReport
    predictor: ApproximationPredictor


@dataclass(frozen=True, eq=False)
class ExportedComponents(_ExportedBase):
    """Principal components, with the novelty of rows."""

    report: ComponentsReport
    predictor: ComponentsPredictor


ExportedVersion: TypeAlias = ExportedSupervised | ExportedApproximation | ExportedComponents


MAX_FAULTS = 20
MAX_TEXT_LENGTH = 100_000
MAX_INTEGER = 2**63 - 1

INPUT_ORDER = "input_order"
"""The member of a plan with the names of the inputs in the user's order, where a document has them in another."""

NUMBER_FORMS = "number_forms"
"""The member of a plan with the forms of numbers in files, by input, where there are any."""

OTHERS = "others"
"""The member of a report with the members of its document that are not known here."""

R = TypeVar("R")

Members: TypeAlias = dict[str, object]
"""The members of an object of plain JSON."""


ExportedPredictor: TypeAlias = SupervisedPredictor | ApproximationPredictor | ComponentsPredictor

SUPERVISED = TypeAdapter(SupervisedReport)
APPROXIMATION = TypeAdapter(ApproximationReport)
COMPONENTS = TypeAdapter(ComponentsReport)


def _known_members(predictor: ExportedPredictor, model: str) -> tuple[Members, Members]:
    """Return the members of a report, and those of its plan, that the rest of the document has."""
    given: Members
    planned: Members = {"model": model, "inputs": [_column(one) for one in predictor.encoding.inputs]}
    match predictor:
        case SupervisedPredictor():
            target = predictor.encoding.target
            given = {
                "task": "classification" if target.classes else "regression",
                "functions": n_functions(predictor.learned),
            }
            planned |= {
                "target": target.name,
                "target_kind": target.kind,
                "classes": list(target.classes),
                "noise_column": target.noise_column,
            }
        case ApproximationPredictor():
            given = {"task": "approximation", "functions": len(predictor.expansion.coefficients)}
            planned["constant"] = predictor.expansion.constant
        case ComponentsPredictor():
            found = predictor.components
            given = {
                "task": "components",
                "functions": len(found.weights),
                "noise_variance": found.noise_variance,
                "log_marginal_likelihood": found.evidence,
            }
            planned["kernel"] = encode(found.kernel)
    return given, planned | {"task": given["task"]}


def _column(column: EncodedInput) -> Members:
    return {
        "name": column.name,
        "kind": column.kind if isinstance(column, EncodedNumber) else "category",
        "categories": [*column.categories] if isinstance(column, EncodedCategory) else [],
    }


def reported(exported: ExportedVersion) -> Members:
    """Return the report of a version without members that its document has elsewhere, and without numbers that are not
    finite."""
    given, planned = _known_members(exported.predictor, exported.model)
    whole = _object(encode(exported.report))
    plan = _object(whole["plan"])
    names, inputs = _names(plan["inputs"]), [_object(column) for column in _list(plan["inputs"])]
    added: Members = {}
    if names != [column.name for column in exported.predictor.encoding.inputs]:
        added[INPUT_ORDER] = names
    if forms := {str(column["name"]): column["form"] for column in inputs if column.get("form") is not None}:
        added[NUMBER_FORMS] = forms
    left: Members = {name: value for name, value in whole.items() if name not in {*given, OTHERS}}
    if isinstance(exported.report, SupervisedReport):
        left["metrics"] = {name: _finite_members(figures) for name, figures in _object(whole["metrics"]).items()}
        left["alternatives"] = [one for one in _list(whole["alternatives"]) if _is_finite(_object(one)["score"])]
    return left | {"plan": {name: value for name, value in plan.items() if name not in planned} | added}


def read_report(
    adapter: TypeAdapter[R],
    sent: Members,
    predictor: ExportedPredictor,
    *,
    model: str,
    task: str,
    others: OtherMembers | None = None,
) -> R:
    """Return the complete report of a document of this `task`, with the members that the rest of it has, and the
    `others` that are not known here; raises InvalidRequestError."""
    given, planned = (members | {"task": task} for members in _known_members(predictor, model))
    plan = sent.get("plan")
    if not isinstance(plan, dict):
        detail = "Expected an object."
        raise InvalidRequestError(f"At /report/plan: {detail}", [Fault(detail, "/report/plan")])
    faults = [*_repeated(sent, {**given, OTHERS: others}, "/report"), *_repeated(plan, planned, "/report/plan")]
    faults += islice(value_faults(sent, "/report"), MAX_FAULTS)
    faults += islice(value_faults(others, ""), MAX_FAULTS)
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
    rest = {name: value for name, value in plan.items() if name not in {INPUT_ORDER, NUMBER_FORMS}}
    kept: Members = {} if others is None else {OTHERS: others}
    whole: Members = {**sent, **given, **kept, "plan": {**rest, **planned, "inputs": inputs}}
    report = validate(adapter, whole, "/report")
    strange = unknown(whole, encode(report), "/report")
    if strange:
        raise _refusal(strange)
    return report


def _refusal(faults: Sequence[Fault]) -> InvalidRequestError:
    return InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


def _finite_members(figures: object) -> Members:
    return {name: value for name, value in _object(figures).items() if _is_finite(value)}


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _object(value: object) -> Members:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _names(inputs: object) -> list[object]:
    return [_object(column)["name"] for column in _list(inputs)]


def _repeated(sent: Members, given: Members, where: str) -> Iterator[Fault]:
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


def value_faults(value: object, where: str) -> Iterator[Fault]:
    """Yield a fault for each value that can't be stored, with its place below `where`."""
    match value:
        case float() if not math.isfinite(value):
            yield Fault("Expected a finite number.", where)
        case int() if abs(value) > MAX_INTEGER:
            yield Fault(f"Expected an integer of at most {MAX_INTEGER} in magnitude.", where)
        case str() if "\0" in value or len(value) > MAX_TEXT_LENGTH:
            yield Fault(f"Expected a text of at most {MAX_TEXT_LENGTH:,} characters without NUL.", where)
        case list():
            for place, one in enumerate(value):
                yield from value_faults(one, f"{where}/{place}")
        case dict():
            for name, one in value.items():
                if "\0" in name or len(name) > MAX_TEXT_LENGTH:
                    yield Fault("Expected members without NUL in their names.", where)
                yield from value_faults(one, f"{where}{pointer((name[:MAX_TEXT_LENGTH],))}")
        case _:
            pass
