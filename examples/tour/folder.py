"""docs/tutorial/tour.md: its commands in an empty folder, in order, and their current outputs."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from examples.tour.readme import BLOCK, ID, MORE, README, Step, differences, renewed
from examples.tour.terminal import COMMANDS, NUMBER, printed
from relevance_bayes.client import DEFAULT_URL

PAGE = README.parent / "docs" / "tutorial" / "tour.md"
WORD = re.compile(r"\S+")
FIGURE = re.compile(f"{ID.pattern}|{NUMBER.pattern}")


def run_commands(text: str, url: str, folder: Path, *, commands: Path = COMMANDS) -> Iterator[tuple[Step, str]]:
    """Yield each command with the current output in the form shown on the page; ids are those of the service at `url`.

    Programs are those of the folder `commands` first.

    Raises SystemExit where an output has another shape, so that the text may be wrong too.
    """
    ids: dict[str, str] = {}
    for step in _steps(text):
        command = step.command.replace(DEFAULT_URL, url)
        for shown, actual in ids.items():
            command = command.replace(shown, actual)
        response = printed(command, url, where=folder, commands=commands)
        now = _json(step, response) if step.shown.startswith("{") else with_current_figures(step.shown, response)
        if now is None:
            raise SystemExit(f"{step.command}{response}")
        ids |= dict(zip(ID.findall(step.shown), ID.findall(now), strict=True))
        yield step, now


def update_page(url: str, folder: Path) -> None:
    """Write the outputs by a new service into the page; raises SystemExit as `run_commands` does."""
    text = PAGE.read_text()
    reported = [(step.shown, now) for step, now in run_commands(text, url, folder) if step.shown]
    ids = [pair for old, new in reported for pair in zip(ID.findall(old), ID.findall(new), strict=True)]
    for old, new in (*reported, *ids):
        text = text.replace(old, new)
    PAGE.write_text(text)


def with_current_figures(shown: str, response: str) -> str | None:
    """Return a shown text with the figures and ids of an output, or None where that has other words.

    `...` matches one word of the output or more, and lines may break elsewhere.
    """
    pattern = r"\s+".join(r"\S.*?" if word == MORE else f"({_with_any_figures(word)})" for word in shown.split())
    found = re.fullmatch(rf"\s*{pattern}\s*", response, re.DOTALL)
    if found is None:
        return None
    words = iter(found.groups())
    return WORD.sub(lambda word: MORE if word[0] == MORE else next(words), shown)


def _steps(text: str) -> list[Step]:
    """Return all commands with their outputs on the page, which may be empty."""
    blocks = [*BLOCK.findall(text), ("", "")]
    return [
        Step(given, "" if follows == "sh" else shown)
        for (kind, given), (follows, shown) in pairwise(blocks)
        if kind == "sh"
    ]


def _json(step: Step, response: str) -> str | None:
    read = json.loads(response)
    return None if differences(step.response, read) else renewed(step.shown, read)


def _with_any_figures(word: str) -> str:
    """Return a pattern of the words that differ from this one only in figures and ids."""
    parts, at = [], 0
    for figure in FIGURE.finditer(word):
        parts += [re.escape(word[at : figure.start()]), ID.pattern if ID.fullmatch(figure[0]) else NUMBER.pattern]
        at = figure.end()
    return "".join([*parts, re.escape(word[at:])])
