"""Refusals of values that are read as records, at paths in it, and the faults that follow."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from relevance_bayes.types.errors import Fault, pointer

Path: TypeAlias = tuple[str | int, ...]

MAX_SHOWN = 60
"""Characters of a value that a message repeats."""

MAX_FAULTS = 1_000


@dataclass(frozen=True)
class Refusal:
    """One thing wrong with a value, at a path in it; `other_kind` where it is of another type than is expected."""

    path: Path
    detail: str
    other_kind: bool = False


class Refused(Exception):
    """A value that is not of its annotation's type."""

    def __init__(self, *refusals: Refusal) -> None:
        super().__init__(*refusals)
        self.refusals = refusals

    def below(self, step: str | int) -> Iterator[Refusal]:
        """The refusals of what holds the value under this name or position."""
        return (replace(one, path=(step, *one.path)) for one in self.refusals)


def refused(expected: str, value: object, *, other_kind: bool = False) -> Refused:
    """Return what to raise of a value that should be another one."""
    return Refused(Refusal((), f"Should be {expected}, got {shown(value)}.", other_kind))


def faults_of(refusals: Sequence[Refusal], where: str) -> list[Fault]:
    """One for each place: of several alternatives what those say whose kind the value is of, if there is one."""
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
    """A value as JSON, of which no more is written than is shown."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).iterencode(value):
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return f"{text[: MAX_SHOWN - 3]}..."
    return text
