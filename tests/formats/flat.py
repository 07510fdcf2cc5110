"""Predictions for formats that are flat."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.formats.streams import FlatTable


@dataclass(frozen=True)
class Flat:
    """A table to write."""

    table: FlatTable

    def flat(self) -> FlatTable:
        return self.table

    def document(self) -> Iterator[bytes]:
        raise NotImplementedError

    def lines(self) -> Iterator[bytes]:
        raise NotImplementedError
