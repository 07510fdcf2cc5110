"""Texts that mean a missing value in columns of numbers, booleans and times."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from app.formats.options import ReadOptions
from relevance_bayes.tables.kinds import MISSING_TEXTS


@dataclass(frozen=True)
class Markers:
    """The texts that mean a missing value: in any case.

    `listed`: they are the request's own, which count in texts too; so do those in `always`.
    """

    texts: frozenset[str] = MISSING_TEXTS
    listed: bool = False
    always: frozenset[str] = frozenset()

    @property
    def of_texts(self) -> "Markers":
        """Return the markers in columns of texts."""
        return Markers(self.texts if self.listed else self.always)

    def has(self, text: str) -> bool:
        """Return whether a text without surrounding blanks means a missing value."""
        return text.lower() in self.texts

    def without(self, texts: pa.StringArray) -> tuple[pa.StringArray, Mapping[str, int]]:
        """Return cells without surrounding blanks, null where they are empty or markers, and the counts of markers."""
        trimmed = pc.utf8_trim_whitespace(texts)
        known = pa.array(sorted({*self.texts, ""}), pa.string())
        is_missing = pc.is_in(pc.utf8_lower(trimmed), value_set=known)
        if not pc.any(is_missing).as_py():
            return trimmed, {}
        counts = Counter(str(text) for text in trimmed.filter(is_missing).to_pylist() if text)
        present: pa.StringArray = pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)
        return present, counts


DEFAULT = Markers()

NOT_AVAILABLE = "#n/a"
"""The error of a spreadsheet for a value that is not there, in lower case."""


def markers_of(options: ReadOptions) -> Markers:
    """Return the markers of a request, which replace the defaults; in a workbook an error #N/A is always missing."""
    always = frozenset({NOT_AVAILABLE}) if options.has_errors else frozenset[str]()
    if options.missing_values is None:
        return replace(DEFAULT, always=always)
    listed = frozenset(text.strip().lower() for text in options.missing_values)
    return Markers(listed | always, listed=True, always=always)
