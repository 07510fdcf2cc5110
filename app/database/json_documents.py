"""Frozen dataclasses as JSON text and back."""

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@dataclass(frozen=True)
class Document(Generic[T]):
    """A codec of one dataclass as JSON text; numbers round-trip exactly, NaN and infinities included."""

    adapter: TypeAdapter[T]

    def write(self, value: T) -> str:
        """Return the value as compact JSON."""
        # The adapter's own dump_json would write NaN and infinities as null.
        return json.dumps(self.adapter.dump_python(value, mode="json"), ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> T:
        """Return the value from JSON that `write` returned."""
        return self.adapter.validate_json(text)

    def read_optional(self, text: str | None) -> T | None:
        """Return the value, or None where nothing was written."""
        return None if text is None else self.read(text)
