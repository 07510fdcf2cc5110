"""The names of a file's columns, as they are stored."""

import re
from collections.abc import Mapping, Sequence

from app.formats.streams import MAX_NAME_LENGTH, check_names

_BREAK = re.compile(r"[\r\n\u2028\u2029]+")


def stored_names(names: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the names of columns, and those in the file of columns with another one, by name.

    A line break becomes a blank, a long name is cut, and a name that occurs again is numbered: x, x_2, x_3.
    """
    found: list[str] = []
    given: dict[str, str] = {}
    taken, seen = {*names}, set[str]()
    for name in names:
        plain = _on_one_line(name) if _BREAK.search(name) else name
        short = plain = plain if len(plain) <= MAX_NAME_LENGTH else plain[:MAX_NAME_LENGTH].strip()
        number = 1
        while short in seen or (number > 1 and short in taken):
            number += 1
            ending = f"_{number}"
            short = plain[: MAX_NAME_LENGTH - len(ending)] + ending
        found.append(short)
        seen.add(short)
        if short != name:
            given[short] = name
    return tuple(found), given


def _on_one_line(name: str) -> str:
    """Return a name with a blank for each line break and the blanks around it."""
    return " ".join(line.strip(" \t") for line in _BREAK.split(name)).strip()


def checked_names(
    names: Sequence[str], *, max_columns: int, line: int | None = None
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the stored names; raises as `check_names` does."""
    stored, given = stored_names(names)
    check_names(stored, max_columns=max_columns, line=line)
    return stored, given
