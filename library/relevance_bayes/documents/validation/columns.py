"""Validation of the columns of an imported version: names, texts, and replacements of missing values."""

import unicodedata
from collections.abc import Collection, Iterator
from math import isclose

from relevance_bayes.documents.validation.figures import FINITE, SHARE, figure_faults
from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.encoding import (
    EncodedCategory,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    InputEncoding,
    quoted,
)

MAX_TEXT_LENGTH = 200
"""The maximum number of characters of a name."""

MAX_LABEL_LENGTH = 100_000


def input_faults(encoding: InputEncoding, taken: Collection[str | None] = ()) -> Iterator[Fault]:
    """Yield faults of the inputs; names that are `taken` belong to other columns."""
    if not encoding.inputs:
        yield Fault("Expected at least one input.", "/inputs")
    others = set(taken)
    for place, column in enumerate(encoding.inputs):
        where = f"/inputs/{place}"
        yield from column_name_faults(column.name, f"{where}/name")
        if column.name in others:
            yield Fault(f"The column {quoted(column.name)} is named twice.", f"{where}/name")
        others.add(column.name)
        yield from _of_gaps(column, where)
        yield from _of_scale(column, where)


def _of_scale(column: EncodedInput, where: str) -> Iterator[Fault]:
    if isinstance(column, EncodedEffects):
        return
    if isinstance(column, EncodedCategory):
        shares = column.fill or ()
        yield from figure_faults((f"{where}/fill/{place}", share, SHARE) for place, share in enumerate(shares))
        if shares and not isclose(sum(shares), 1.0, rel_tol=1e-6):
            yield Fault("Expected shares that sum to 1.", f"{where}/fill")
    elif column.kind == "boolean":
        members = (("shift", column.shift), ("scale", column.scale), ("fill", column.fill))
        yield from figure_faults((f"{where}/{name}", value, SHARE) for name, value in members)


def _of_gaps(column: EncodedInput, where: str) -> Iterator[Fault]:
    if isinstance(column, EncodedNumber) and len(set(column.periods)) < len(column.periods):
        yield Fault("Expected periods that are all distinct.", f"{where}/periods")
    if column.indicator and column.fill is None:
        yield Fault("Expected a value with `indicator`.", f"{where}/fill")
    if isinstance(column, EncodedEffects):
        yield from _of_effects(column, where)
    if isinstance(column, EncodedCategory):
        known = column.categories
        if not known or len(set(known)) < len(known):
            yield Fault("Expected at least one category, all distinct.", f"{where}/categories")
        if any(not is_label(category) for category in known):
            yield Fault("Expected categories of bounded length without NUL.", f"{where}/categories")
        if column.fill is not None and len(column.fill) != len(known):
            yield Fault(f"Expected {len(known)} shares, got {len(column.fill)}.", f"{where}/fill")


def _of_effects(column: EncodedEffects, where: str) -> Iterator[Fault]:
    known = column.categories
    if len(set(known)) < len(known) or any(not is_label(text) for text in known):
        yield Fault("Expected distinct texts of bounded length without NUL.", f"{where}/categories")
    if not column.effects:  # each has as many numbers as there are texts: the reading sees to that
        yield Fault("Expected the effects on one output at least.", f"{where}/effects")
    yield from figure_faults((f"{where}/effects", one, FINITE) for each in column.effects for one in each)
    if column.fill not in {None, 0.0}:
        yield Fault("Expected 0, the mean effect, or null.", f"{where}/fill")


def column_name_faults(name: str, where: str) -> Iterator[Fault]:
    """Yield faults of a column's name."""
    plain = not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in name)
    if not (0 < len(name) <= MAX_TEXT_LENGTH and plain):
        yield Fault(f"Expected a name of 1 to {MAX_TEXT_LENGTH} characters, none of them control characters.", where)


def is_label(text: str) -> bool:
    """Return whether a text may be a category or a class."""
    return "\0" not in text and len(text) <= MAX_LABEL_LENGTH
