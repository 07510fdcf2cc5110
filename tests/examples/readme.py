"""The README taken apart: its tour as commands with their answers, and how two answers differ in shape."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.client.answers import Json

README = Path(__file__).parents[2] / "README.md"

MORE = "..."
"""Stands in the README for more members, or more items of the same shape."""

BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A command of the tour, and the answer that the README shows."""

    command: str
    answer: Json


def tour() -> list[Step]:
    """The commands that are followed by an answer, in order."""
    text = README.read_text()
    blocks = BLOCK.findall(text[text.index("## A tour") : text.index("## In containers")])
    return [
        Step(shown, _read(answer))
        for (kind, shown), (follows, answer) in pairwise(blocks)
        if (kind, follows) == ("sh", "json")
    ]


def _read(answer: str) -> Json:
    in_objects = re.sub(r",\s*\.\.\.\s*\}", f', "{MORE}": null}}', answer)
    in_both = re.sub(r",\s*\.\.\.\s*\]", f', "{MORE}"]', in_objects)
    read: Json = json.loads(in_both)
    return read


def differences(shown: Json, actual: Json, at: str = "") -> list[str]:
    """Where the shape of an actual answer is not the shown one's: members, types, texts that are not ids or times."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        return _of_objects(shown, actual, at)
    if isinstance(shown, list) and isinstance(actual, list):
        return _of_lists(shown, actual, at)
    if type(shown) is type(actual) or {type(shown), type(actual)} == {int, float}:
        return []
    return [f"{at}: shown is {shown!r}, answered {actual!r}"]


def _of_objects(shown: Mapping[str, Json], actual: Mapping[str, Json], at: str) -> list[str]:
    missing = [f"{at}/{name}: not answered" for name in shown if name not in actual and name != MORE]
    unshown = [f"{at}/{name}: not shown" for name in actual if name not in shown and MORE not in shown]
    inner = [differences(shown[name], actual[name], f"{at}/{name}") for name in shown if name in actual]
    return missing + unshown + [difference for some in inner for difference in some]


def _of_lists(shown: list[Json], actual: list[Json], at: str) -> list[str]:
    items = [item for item in shown if item != MORE]
    if len(items) > len(actual) or (len(items) < len(actual) and MORE not in shown):
        return [f"{at}: shown are {len(items)} items, answered {len(actual)}"]
    inner = [differences(item, answered, f"{at}/{i}") for i, (item, answered) in enumerate(zip(items, actual))]  # noqa: B905
    return [difference for some in inner for difference in some]


def ids(shown: Json, actual: Json) -> dict[str, str]:
    """Which id of the README's is which one now."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        pairs = [(shown[name], actual[name]) for name in shown if name in actual]
    elif isinstance(shown, list) and isinstance(actual, list):
        pairs = list(zip(shown, actual, strict=False))
    else:
        is_id = (
            isinstance(shown, str)
            and isinstance(actual, str)
            and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", shown)
        )
        return {str(shown): str(actual)} if is_id else {}
    found: dict[str, str] = {}
    for one, other in pairs:
        found |= ids(one, other)
    return found
