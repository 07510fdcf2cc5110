"""Refusals of values that are read as records, at paths in them, and the resulting faults."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from relevance_bayes.types.errors import Fault, pointer

Path: TypeAlias = tuple[str | int, ...]

MAX_SHOWN = 60
"""The maximum number of characters of a value that a message repeats."""

MAX_FAULTS = 1_000


@dataclass(frozen=True)
class Refusal:
    """A fault of a value, at a path in it; `other_kind` where it has another type than expected."""

    path: Path
    detail: str
    other_kind: bool = False


class Refused(Exception):
    """Raised for an invalid value of an annotated type."""

    def __init__(self, *refusals: Refusal) -> None:
        super().__init__(*refusals)
        self.refusals = refusals

    def below(self, step: str | int) -> Iterator[Refusal]:
        """Yield the refusals with this name or index before their paths."""
        return (replace(one, path=(step, *one.path)) for one in self.refusals)


def refused(expected: str, value: object, *, other_kind: bool = False) -> Refused:
    """Return the exception for an unexpected value."""
    return Refused(Refusal((), f"Should be {expected}, got {shown(value)}.", other_kind))


def faults_of(refusals: Sequence[Refusal], where: str) -> list[Fault]:
    """Return one fault for each place: of several alternatives, those whose type the value has, if there is one."""
    places: dict[Path, list[Refusal]] = {}
    for one in refusals[:MAX_FAULTS]:
        places.setdefault(one.path, []).append(one)
    holders = {path[:size] for path in places for size in range(len(path))}
    faults: list[Fault] = []
    for path, given in places.items():
        if path not in holders:
            apt = [one.detail for one in given if not one.other_kind] or [one.detail for one in given]
            faults.append(Fault(" Or: ".join(dict.fromkeys(apt)), f"{where}{pointer(path)}"))
    return faults


def shown(value: object) -> str:
    """Return a value as JSON, truncated to the maximum that is shown."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).iterencode(value):
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return f"{text[: MAX_SHOWN - 3]}..."
    return text
