"""A page's Python, run line by line: a comment behind a line is its value by the page."""

import ast
import re
from dataclasses import dataclass

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Line:
    """An expression of the page, what it gave, and what the page shows."""

    expression: str
    given: object
    shown: str


def run(text: str) -> list[Line]:
    """All blocks in one namespace; the lines that show something."""
    names: dict[str, object] = {}
    reported: list[Line] = []
    for block in BLOCK.findall(text):
        for statement in ast.parse(block).body:
            source = ast.get_source_segment(block, statement)
            assert source is not None
            _, _, shown = block.splitlines()[(statement.end_lineno or 1) - 1].partition("  # ")
            if isinstance(statement, ast.Expr) and shown:
                reported.append(Line(source, eval(source, names), shown))
            else:
                exec(source, names)
    return reported
