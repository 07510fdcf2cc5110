"""Lines before the table of a CSV file: byte order marks, a line that names the delimiter, a block of comments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

BOM = "\ufeff"
_SEPARATOR = re.compile(r'"?sep=(?P<mark>[^\r\n"])"?[ \t]*(?:\r\n|\n|\r)', re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


@dataclass(frozen=True)
class Beginning:
    """The length in characters of what precedes the table, its number of lines, and the delimiter that it names."""

    length: int
    lines: int
    delimiter: str | None = None


def skip_lines(text: str, count: int) -> int:
    """Return the length of the first `count` lines of a text."""
    end = 0
    for _ in range(count):
        found = _LINE.match(text, end)
        end = len(text) if found is None else found.end()
    return end


def find_beginning(text: str) -> Beginning:
    """Return what precedes the table of a text without byte order marks."""
    named = _SEPARATOR.match(text)
    return Beginning(0, 0) if named is None else Beginning(named.end(), 1, named["mark"])


def comments_before(text: str) -> Sequence[str]:
    """Return the lines of comments, and blank ones, before the first other line, with their ends."""
    lines: list[str] = []
    end = 0
    while (found := _LINE.match(text, end)) is not None and found[0]:
        if found[0].strip() and not found[0].lstrip().startswith("#"):
            break
        lines.append(found[0])
        end = found.end()
    return lines if any(line.strip() for line in lines) else []


def lines_in(text: str) -> int:
    """Return the number of line ends in a text."""
    return len(re.findall(r"\r\n|\n|\r", text))
