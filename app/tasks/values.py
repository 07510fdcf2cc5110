"""Values of what is told by few functions: of a known function, and of an image."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.tasks.prediction import Means, Members, Rows
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tables.columns import Block, FlatColumn
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.functions import ListedFunction

OUTPUTS = ("value",)


@dataclass(frozen=True, eq=False)
class ValuePrediction:
    """The values (N,) at N rows; a row with a fault is NaN."""

    value: Array
    faults: tuple[Fault, ...]

    @property
    def rows(self) -> int:
        """N."""
        return len(self.value)

    @property
    def support(self) -> None:
        """None: nothing was learned from rows."""
        return None

    @property
    def compared(self) -> Means:
        """The values, which have no sd."""
        return Means(self.value, None)

    def with_faults(self, faults: tuple[Fault, ...]) -> "ValuePrediction":
        """The same with other faults."""
        return ValuePrediction(self.value, faults)

    def some(self, rows: Rows) -> "ValuePrediction":
        """Of some of the rows."""
        return ValuePrediction(self.value[rows], self.faults)

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """The values, whatever the outputs."""
        return {"value": self.value}

    def arrays(self) -> dict[str, Array]:
        """The values."""
        return {"value": self.value}

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction]) -> Members:
        """The values, whatever the outputs."""
        return {"value": self.value.tolist()}

    def joint_members(self) -> dict[str, object]:
        """Nothing."""
        return {}


def sound_rows(encoding: InputEncoding, block: Block) -> tuple[Array, Mask, tuple[Fault, ...]]:
    """The rows as places, which of them can be answered, and why not the others."""
    inputs, faults = encode_inputs(encoding, block)
    return inputs, np.isfinite(inputs[:, 0]), faults
