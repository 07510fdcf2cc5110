"""Checks that a dataset has the columns that a version reads."""

from collections.abc import Iterator, Mapping

from app.datasets.records import Dataset
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.values import ColumnKind


def refuse_unfit(
    required: Mapping[str, ColumnKind], dataset: Dataset, *, optional: Mapping[str, ColumnKind] | None = None
) -> None:
    """Raises InvalidRequestError unless a dataset has the columns that a version reads, as the kinds that they are."""
    known = {column.name: column.kind for column in dataset.columns}
    there = {name: kind for name, kind in (optional or {}).items() if name in known}
    faults = [Fault(detail, pointer="/dataset_id") for detail in _unfit({**required, **there}, known)]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidRequestError(f"{faults[0].detail.removesuffix('.')}{more}.", faults)


def _unfit(required: Mapping[str, ColumnKind], known: Mapping[str, ColumnKind]) -> Iterator[str]:
    for name, kind in required.items():
        if name not in known:
            yield f"The dataset has no column {name!r}, which the version reads."
        elif known[name] != kind:
            yield f"Column {name!r} of the dataset is of kind {known[name]}, the version's is {kind}."
