"""A generated file: its head, its constants, the library functions that it needs, and its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TypeAlias

from app.exports.python_file.text import array, needed, pieces_by_name, quoted
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.tables.encoding import EncodedEffects, EncodedNumber, InputEncoding
from relevance_bayes.tables.encoding.columns import SECONDS

Numbers: TypeAlias = Array | Indices | None

HEAD = '''"""Version {number} of the model {model}: predictions with numpy only.

`predict(columns)` takes a sequence for each input, by name, and returns an array for each output, by name.
Inputs: {inputs}.
{notes}"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

Array = Indices = np.ndarray
'''
KINDS = {"number": "numbers", "boolean": "0 and 1", "timestamp": "seconds since 1970 UTC", "category": "texts"}
GAPS = "A missing value is None, or NaN. A row that can't be predicted is NaN throughout.\n"


@dataclass(frozen=True)
class Program:
    """One file; constants and functions get names at first use."""

    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)

    def constant(self, name: str, numbers: Numbers) -> str:
        """Return the name of a constant, or None."""
        if numbers is None:
            return "None"
        taken = name
        while taken in self.constants:
            base, _, last = taken.rpartition("_")
            taken = f"{base}_{int(last) + 1}" if last.isdecimal() and base else f"{taken}_2"
        self.constants[taken] = array(numbers)
        return taken

    def function(self, name: str, signature: str, body: str) -> str:
        """Return the name of a function, the same for the same source."""
        for taken in chain([name], (f"{name}_{number}" for number in count(2))):
            source = f"def {taken}{signature}:\n{body}\n"
            if taken not in pieces_by_name() and self.functions.get(taken, source) == source:
                self.functions[taken] = source
                return taken
        raise AssertionError("unreachable: there is always another number")

    def written(self, exported: ExportedVersion, notes: str, body: str) -> str:
        """Return the complete source."""
        encoding: InputEncoding = exported.predictor.encoding
        if exported.averages_gaps:  # a program has no rows to average over
            encoding = encoding.with_indicated_fills()
        whole = f"{_encode(encoding)}\n\n{body}"
        return "".join(self._parts(_head(exported, notes), whole))

    def _parts(self, head: str, body: str) -> Iterator[str]:
        yield head
        for name, text in self.constants.items():
            yield f"\n{name} = {text}\n"
        for source in needed("\n".join([*self.functions.values(), body])):
            yield f"\n\n{source}"
        for source in self.functions.values():
            yield f"\n\n{source}"
        yield f"\n\n{body}\n"


def _head(exported: ExportedVersion, notes: str) -> str:
    inputs = ", ".join(f"{quoted(column.name)} ({KINDS[column.kind]})" for column in exported.report.plan.inputs)
    return HEAD.format(number=exported.number, model=quoted(exported.model), inputs=inputs, notes=GAPS + notes)


def _encode(encoding: InputEncoding) -> str:
    parts = []
    for column in encoding.inputs:
        where = f"columns[{column.name!r}]"
        if isinstance(column, EncodedNumber):
            given: tuple[float | bool | None, ...] = (column.shift, column.scale, column.fill, column.indicator)
            given = given if column.unit is None else (*given, column.unit)
            periods = [(SECONDS[one], one == "week") for one in column.periods]
            call = f"date({where}, {periods!r}, " if periods else f"number({where}, "
            parts.append(f"{call}{', '.join(map(repr, given))})")
        elif isinstance(column, EncodedEffects):
            each = (column.categories, column.effects, column.fill, column.indicator)
            parts.append(f"effects({where}, {', '.join(map(repr, each))})")
        else:
            parts.append(f"category({where}, {column.categories!r}, {column.fill!r}, {column.indicator!r})")
    listed = "".join(f"            {part},\n" for part in parts)
    return (
        "def encode(columns: Mapping[str, Sequence[object]]) -> Array:\n"
        '    """Return the matrix of encoded columns."""\n'
        f"    return np.hstack(\n        [\n{listed}        ]\n    )\n"
    )


def predict(lines: Sequence[str], *, beside: str = "") -> str:
    """Return the source of `predict` with these lines; `beside` are its parameters besides the columns."""
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"def predict(columns: Mapping[str, Sequence[object]]{beside}) -> dict[str, Array]:\n"
        f'    """Return the predictions of each row."""\n{body}'
    )
