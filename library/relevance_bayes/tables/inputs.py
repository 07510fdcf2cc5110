"""The columns that a model reads, those that it leaves out, and what becomes of gaps."""

from typing import Literal

from relevance_bayes.types.inputs import IgnoredColumn, InputColumn

__all__ = ["IgnoredColumn", "InputColumn", "Missing"]

Missing = Literal["error", "drop_rows", "indicator"]
