"""The service's frozen dataclasses as JSON text and back: the same unions that the HTTP door reads."""

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from app.domain.jobs import Problem
from relevance_bayes.documents.models import VersionReport
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.types.functions import ClassWeight, InputShape
from relevance_bayes.types.jobs import JobKind, JobState, Progress
from relevance_bayes.types.values import Cell
from relevance_bayes.types.webhooks import DeliveryState, EventType, MessageType, Obstacle

T = TypeVar("T")


@dataclass(frozen=True)
class Document(Generic[T]):
    """One kind of JSON text; numbers come back to the bit, also those that are not finite."""

    adapter: TypeAdapter[T]

    def write(self, value: T) -> str:
        """As compact JSON."""
        # Not the adapter's own writer: it would turn NaN and the infinities into null.
        return json.dumps(self.adapter.dump_python(value, mode="json"), ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> T:
        """From what `write` wrote."""
        return self.adapter.validate_json(text)


COLUMNS = Document(TypeAdapter(tuple[ColumnSummary, ...]))
PROGRESS = Document(TypeAdapter(Progress))
PROBLEM = Document(TypeAdapter(Problem))
REPORT = Document(TypeAdapter(VersionReport))
EVENTS: Document[tuple[EventType, ...]] = Document(TypeAdapter(tuple[EventType, ...]))
NAMES = Document(TypeAdapter(tuple[str, ...]))
WEIGHTS = Document(TypeAdapter(tuple[ClassWeight, ...]))
SHAPE = Document(TypeAdapter(tuple[InputShape, ...]))
CELLS: Document[dict[str, Cell]] = Document(TypeAdapter(dict[str, Cell]))

KIND: TypeAdapter[JobKind] = TypeAdapter(JobKind)
STATE: TypeAdapter[JobState] = TypeAdapter(JobState)
DELIVERY_STATE: TypeAdapter[DeliveryState] = TypeAdapter(DeliveryState)
MESSAGE_TYPE: TypeAdapter[MessageType] = TypeAdapter(MessageType)
OBSTACLE: TypeAdapter[Obstacle] = TypeAdapter(Obstacle)
