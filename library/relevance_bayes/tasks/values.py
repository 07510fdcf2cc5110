"""Values of approximations and of images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.tables.columns import Block, FlatColumn
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs
from relevance_bayes.tasks.prediction import Means, Members, RecordClass, Rows

OUTPUTS = ("value",)


@dataclass(frozen=True, eq=False)
class ValuePrediction:
    """The values (N,) at N rows; a row with a fault is NaN."""

    value: Array
    faults: tuple[Fault, ...]

    @property
    def rows(self) -> int:
        """The number of rows, N."""
        return len(self.value)

    @property
    def support(self) -> None:
        """None: no rows were learned from."""
        return None

    @property
    def rows_averaged(self) -> int:
        """Return none: unknown categories are faults."""
        return 0

    @property
    def monitored(self) -> tuple[str, Array]:
        """Return the values."""
        return "value", self.value

    @property
    def compared(self) -> Means:
        """Return the values, which have no sd."""
        return Means(self.value, None)

    def with_faults(self, faults: tuple[Fault, ...]) -> "ValuePrediction":
        """Return the prediction with other faults."""
        return ValuePrediction(self.value, faults)

    def some(self, rows: Rows) -> "ValuePrediction":
        """Return the prediction of some of the rows."""
        return ValuePrediction(self.value[rows], self.faults)

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return the values, whatever the outputs."""
        return {"value": self.value}

    def arrays(self) -> dict[str, Array]:
        """Return the values."""
        return {"value": self.value}

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return the values, whatever the outputs."""
        return {"value": self.value.tolist()}

    def joint_members(self) -> dict[str, object]:
        """Return no members."""
        return {}


def sound_rows(encoding: InputEncoding, block: Block) -> tuple[Array, Mask, tuple[Fault, ...]]:
    """Return the encoded rows, the mask of the valid ones, and the faults of the others."""
    inputs, faults = encode_inputs(encoding, block)
    return inputs, np.isfinite(inputs[:, 0]), faults
