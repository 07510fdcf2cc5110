"""A generated file: its head, its constants, the library functions that it needs, and its own."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count
from typing import TypeAlias

from app.exports.python_file import outcomes, pieces
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.documents.reports import ExportedVersion
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


WIDTH = 118
"""The maximum length of the file's lines."""


def quoted(text: object) -> str:
    """Return a Python literal that does not end a docstring."""
    return ascii(text).replace("\\", "\\\\").replace('"', '\\"')


def array(numbers: Array | Indices) -> str:
    """Return a numpy array as source."""
    listed = numbers.tolist()
    text = _lines(listed) if listed else f"np.empty({numbers.shape})"
    return text if text.startswith("np.") else f"np.array({text})"


def _lines(listed: object) -> str:
    """Return a list of numbers, or of such lists, divided into lines."""
    if not isinstance(listed, list):
        return repr(listed)
    items = [_lines(item) for item in listed]
    if len(whole := f"[{', '.join(items)}]") <= WIDTH - 30:
        return whole
    rows: list[str] = []
    for item in (textwrap.indent(item, "    ").lstrip() for item in items):
        if rows and "\n" not in item and len(rows[-1]) + len(item) + 2 <= WIDTH - 4:
            rows[-1] += f" {item},"
        else:
            rows.append(f"    {item},")
    return "[\n" + "\n".join(rows) + "\n]"


@cache
def pieces_by_name() -> dict[str, str]:
    """Return the sources of the library functions by name, in the order of their definitions."""
    return {
        name: inspect.getsource(piece)
        for module in (pieces, outcomes)
        for name, piece in vars(module).items()
        if inspect.isfunction(piece) and piece.__module__ == module.__name__
    }


def needed(body: str) -> list[str]:
    """Return the sources of the library functions that a body needs, directly or not."""
    sources, required, waiting = pieces_by_name(), set[str](), [body]
    while waiting:
        for node in ast.walk(ast.parse(waiting.pop())):
            if isinstance(node, ast.Name) and node.id in sources and node.id not in required:
                required.add(node.id)
                waiting.append(sources[node.id])
    return [source for name, source in sources.items() if name in required]
