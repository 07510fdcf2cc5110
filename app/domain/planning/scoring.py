"""What is to be done to a version and a dataset that must go together."""

from collections.abc import Iterator, Mapping

from app.domain.datasets import Dataset
from app.domain.errors import Fault, InvalidRequestError
from app.domain.models import SupervisedReport, Version
from app.domain.requests import EvaluationPlan, EvaluationRequest, ScoringPlan, ScoringRequest
from app.domain.tables import ColumnKind


def plan_scoring(request: ScoringRequest, version: Version, dataset: Dataset) -> ScoringPlan:
    """Resolve a request to the version that its reference means now; raises InvalidRequestError with all faults."""
    match request:
        case EvaluationRequest():
            report = judged(version, dataset)
            return EvaluationPlan(version.model, version.number, report.task, report.plan.target)


def judged(version: Version, dataset: Dataset) -> SupervisedReport:
    """What there is to know of a version that is to be judged by a dataset; raises InvalidRequestError."""
    report = version.report
    if not isinstance(report, SupervisedReport):
        detail = f"A model of {report.task} has no target by which to judge it: name one of numbers or classes."
        raise InvalidRequestError(detail, [Fault(detail, pointer="/model")])
    plan = report.plan
    wanted = {column.name: column.kind for column in plan.inputs} | {plan.target: plan.target_kind}
    refuse_unfit(wanted, dataset, optional={} if plan.noise_column is None else {plan.noise_column: "number"})
    return report


def refuse_unfit(
    wanted: Mapping[str, ColumnKind], dataset: Dataset, *, optional: Mapping[str, ColumnKind] | None = None
) -> None:
    """Raises InvalidRequestError unless a dataset has the columns that a version reads, as the kinds that they are."""
    known = {column.name: column.kind for column in dataset.columns}
    there = {name: kind for name, kind in (optional or {}).items() if name in known}
    faults = [Fault(detail, pointer="/dataset_id") for detail in _unfit({**wanted, **there}, known)]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidRequestError(f"{faults[0].detail.removesuffix('.')}{more}.", faults)


def _unfit(wanted: Mapping[str, ColumnKind], known: Mapping[str, ColumnKind]) -> Iterator[str]:
    for name, kind in wanted.items():
        if name not in known:
            yield f"The dataset has no column {name!r}, which the version reads."
        elif known[name] != kind:
            yield f"Column {name!r} of the dataset is of kind {known[name]}, the version's is {kind}."
