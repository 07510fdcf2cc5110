"""A loaded version, and the outputs of its predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.prediction.drift import DriftMonitor
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.tasks.union import task_of
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tasks.prediction import PredictiveModel


@dataclass(frozen=True, eq=False)
class ServedVersion:
    """A loaded version; `columns` are the raw inputs it reads, name and kind.

    `functions` (R,) are those that explanations name, as the version's list of relevance vectors has them; empty where
    there are no explanations. `not_read` are the other columns of the table it was trained on: rows of that table may
    be sent as they are. `counts` are of its requests; `monitor` counts its rows, except for jobs.
    """

    version: Version
    model: PredictiveModel
    functions: tuple[ListedFunction, ...]
    columns: tuple[tuple[str, ColumnKind], ...]
    not_read: frozenset[str]
    counts: Counts
    monitor: DriftMonitor | None = None

    @cached_property
    def number_names(self) -> tuple[str, ...]:
        """The columns where all of them are numbers, else none."""
        numbers = tuple(name for name, kind in self.columns if kind == "number")
        return numbers if len(numbers) == len(self.columns) else ()


def version_metadata(version: Version) -> dict[str, str]:
    """Return the metadata of the version for formats of files that have metadata."""
    return {"model": version.model, "version": str(version.number)}


def outputs_of(version: Version) -> tuple[str, ...]:
    """Return the outputs that this version's predictions can have."""
    return task_of(version.report).outputs(version.report)


def requested_outputs(version: Version, requested: Sequence[str] | None) -> tuple[str, ...]:
    """The members that predictions are to have, all where none were `requested`, in the order of the request.

    Raises InvalidRequestError for those that they can't have.
    """
    possible = outputs_of(version)
    if requested is None:
        return possible
    faults = [
        Fault(f"A model of {version.report.task} answers {', '.join(possible)}.", pointer=f"/outputs/{place}")
        for place, output in enumerate(requested)
        if output not in possible
    ]
    if faults:
        raise InvalidRequestError("This model's predictions don't have such an output.", faults)
    return tuple(dict.fromkeys(requested))
