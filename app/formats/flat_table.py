"""Predictions as a flat table, before a format writes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relevance_bayes.core.types import Mask
from relevance_bayes.tables.columns import Column, FlatColumn


@dataclass(frozen=True, eq=False)
class KeptColumn:
    """A column of a dataset (N,) that precedes the predictions; `integral`: all its numbers are integers."""

    column: Column
    integral: bool


@dataclass(frozen=True, eq=False)
class FlatTable:
    """Predictions for N rows by column, missing in `faulty` rows (N,).

    `errors` by row are a last column `error`, None where there is none. `about` describes the version, in formats with
    metadata. `kept` precede the predictions. `escapes_formulas`: in CSV no text is a formula for a spreadsheet.
    """

    columns: Mapping[str, FlatColumn]
    faulty: Mask | None
    errors: Mapping[int, str] | None
    about: Mapping[str, str]
    kept: Mapping[str, KeptColumn] = field(default_factory=dict)
    escapes_formulas: bool = False
