"""Frozen dataclasses as JSON text and back."""

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

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
