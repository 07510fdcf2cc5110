"""JSON as pages show it: several members a line, and `...` for what is left out."""

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

WIDTH = 118
MORE = "..."
MAX_LINES = 18
MAX_TEXT = 160
FIRST_MEMBERS = 4


def shortened(value: Json) -> str:
    """Return a value as JSON of at most MAX_LINES lines where that is possible."""
    texts = (_written(value, items, depth, 0) for items, depth in ((2, 3), (1, 3), (1, 2)))
    return next((text for text in texts if text.count("\n") < MAX_LINES), _written(value, 1, 1, 0))


def full(value: Json) -> str:
    """Return a value as JSON, nothing left out."""
    return _written(value, None, 0, 0)


def _written(value: Json, items: int | None, max_depth: int, depth: int) -> str:
    """JSON with at most so many `items` of a long list (None: all), and some members of long objects from `max_depth`
    on."""
    match value:
        case dict():
            parts = [f"{json.dumps(name)}: {_written(one, items, max_depth, depth + 1)}" for name, one in value.items()]
            is_long = len(parts) > FIRST_MEMBERS + 1 and sum(map(len, parts)) > WIDTH
            if items is not None and depth >= max_depth and is_long:
                parts = [*parts[:FIRST_MEMBERS], MORE]
            return _packed("{", parts, "}", depth)
        case list():
            is_short = items is None or len(value) <= items + 1 or len(json.dumps(value)) < WIDTH
            shown = value if is_short else value[:items]
            parts = [_written(one, items, max_depth, depth + 1) for one in shown]
            return _packed("[", parts if is_short else [*parts, MORE], "]", depth)
        case str() if items is not None and len(value) > MAX_TEXT:
            return json.dumps(value[:MAX_TEXT] + MORE, ensure_ascii=False)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _packed(start: str, parts: list[str], end: str, depth: int) -> str:
    """The parts between brackets: on one line, or filled into lines; a part of several lines begins on its own."""
    line = start + ", ".join(parts) + end
    if not parts or ("\n" not in line and len(line) + depth <= WIDTH):
        return line
    lines = [start]
    for part in [*(f"{one}," for one in parts[:-1]), parts[-1] + end]:
        is_full = "\n" in part or len(lines[-1]) + len(part) >= WIDTH
        if lines[-1] == start:
            lines[-1] += part
        elif is_full or "\n" in lines[-1]:
            lines.append(" " * (depth + 1) + part)
        else:
            lines[-1] += f" {part}"
    return "\n".join(lines)
