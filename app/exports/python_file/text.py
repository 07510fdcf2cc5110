"""Numbers, strings and sources in a generated file."""

import ast
import inspect
import textwrap
from functools import cache

from app.exports.python_file import outcomes, pieces
from relevance_bayes.core.types import Array, Indices

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
