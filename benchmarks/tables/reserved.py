"""Names of tables that stay out, kept as hashes, and the columns by which a copy under another name is found."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from relevance_bayes.core.types import Array

HASHES = Path(__file__).with_name("reserved.txt")

MIN_SHARED = 1 / 3
"""Share of the narrower table's columns from which on two tables of equal length count as the same data."""


@dataclass(frozen=True)
class Fingerprint:
    """The number of rows, and a digest of each column that depends neither on their order nor on its name."""

    rows: int
    columns: tuple[str, ...]

    def same_data(self, other: "Fingerprint") -> bool:
        """Return true where both have equally many rows and share the values of a third of their columns."""
        if self.rows != other.rows:
            return False
        shared = (Counter(self.columns) & Counter(other.columns)).total()
        return shared >= max(2.0, MIN_SHARED * min(len(self.columns), len(other.columns)))


def is_reserved(name: str) -> bool:
    """Return true where the list has the name as it is, without punctuation, or up to its first digit or mark."""
    lower = name.lower()
    forms = (lower, re.sub(r"[.\-_\s]", "", lower), re.split(r"[0-9\-_.]", lower, maxsplit=1)[0])
    return any(hashlib.sha256(form.encode()).hexdigest() in reserved_hashes() for form in forms)


@cache
def reserved_hashes() -> frozenset[str]:
    """The hashes of the list."""
    lines = HASHES.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def number_digest(values: Array) -> str:
    """The digest of a column of numbers (N,), whatever their order."""
    rounded = np.sort(np.round(values, 6)) + 0.0  # one zero
    return hashlib.sha256(rounded.astype("<f8").tobytes()).hexdigest()[:16]


def category_digest(values: Sequence[str]) -> str:
    """The digest of the counts of each text in a column, whatever the texts are."""
    counts = sorted(Counter(values).values())
    return hashlib.sha256(repr(counts).encode()).hexdigest()[:16]
