"""Tutorials that are notebooks: a block of Python is a cell, and the block of text behind it is its output.

`python -m tests.docs.notebooks` runs them and writes the outputs.
"""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ("dataframe.md", "promoted.md")
FOLDER = ROOT / "docs" / "tutorial"

CELL = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def outputs(text: str) -> list[str]:
    """The outputs that a page shows, empty where a cell has none."""
    return [found["output"] or "" for found in CELL.finditer(text)]


def executed(text: str) -> Iterator[str]:
    """The outputs of the cells of a page, run in one namespace: what they print, and the last value as a notebook shows
    it."""
    names: dict[str, object] = {"__name__": "__main__"}
    for found in CELL.finditer(text):
        body = ast.parse(found["code"]).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            value = None if last is None else eval(ast.unparse(last), names)
            if value is not None:
                printed.write(f"{value!r}\n")
        yield printed.getvalue()


def written(text: str) -> str:
    """The page with the outputs of its cells."""
    made = iter([*executed(text)])

    def cell(found: re.Match[str]) -> str:
        output = next(made)
        return f"```python\n{found['code']}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return CELL.sub(cell, text)


if __name__ == "__main__":
    for name in NOTEBOOKS:
        page = FOLDER / name
        page.write_text(written(page.read_text("utf-8")), "utf-8")
