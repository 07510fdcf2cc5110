"""HTTP requests on a page with their responses: differences of shape, and current responses."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from relevance_bayes.client import DEFAULT_URL
from relevance_bayes.client.responses import Json
from relevance_bayes.records.jobs import UNFINISHED

README = Path(__file__).parents[2] / "README.md"
DOCS = README.parent / "docs"
FIRST_MODEL = DOCS / "tutorial" / "first-model.md"
APPROXIMATION = DOCS / "how-to" / "approximation.md"
IMAGES = DOCS / "how-to" / "images.md"
COMPONENTS = DOCS / "how-to" / "components.md"
DECISIONS = DOCS / "how-to" / "decisions-of-classes.md"
SIGNALS = DOCS / "how-to" / "signals.md"

MORE = "..."
"""On a page: more members, or more items of the same shape."""

BLOCK = re.compile(r"^```(sh|json|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+|[][{},:]|\s+')
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Step:
    """A command, and its response as shown on the page."""

    command: str
    shown: str

    @property
    def response(self) -> Json:
        """Return the parsed response; `...` is a member or an item of that name."""
        in_objects = re.sub(r",\s*\.\.\.\s*\}", f', "{MORE}": null}}', self.shown)
        read: Json = json.loads(re.sub(r",\s*\.\.\.\s*\]", f', "{MORE}"]', in_objects))
        return read


def steps_of(text: str) -> list[Step]:
    """Return the commands that are followed by a response, in order."""
    blocks = BLOCK.findall(text)
    return [
        Step(given, shown) for (kind, given), (follows, shown) in pairwise(blocks) if (kind, follows) == ("sh", "json")
    ]


@dataclass(frozen=True)
class Responses:
    """The responses to the commands of a page, and the ids of the service by those of the page."""

    responses: list[Json]
    ids: dict[str, str]


def take(steps: list[Step], url: str) -> Responses:
    """Send each command to the service at `url`, with its ids in the place of the page's."""
    ids: dict[str, str] = {}
    responses: list[Json] = []
    for step in steps:
        command = step.command.replace(DEFAULT_URL, url)
        for shown, actual in ids.items():
            command = command.replace(shown, actual)
        responses.append(_send(command))
        ids |= _ids(step.response, responses[-1])
    return Responses(responses, ids)


def _send(command: str) -> Json:
    """Return the response to a command; one that waits for a job is sent again until the job has ended."""
    for _ in range(5):
        done = subprocess.run(("sh", "-c", command), cwd=README.parent, capture_output=True, timeout=120, check=True)
        response: Json = json.loads(done.stdout)
        if "wait=" not in command or not isinstance(response, dict) or response.get("state") not in UNFINISHED:
            return response
    raise TimeoutError(command)


def _ids(shown: Json, actual: Json) -> dict[str, str]:
    """Return the current ids by those of the page."""
    if isinstance(shown, str) and isinstance(actual, str) and ID.fullmatch(shown):
        return {shown: actual}
    pairs: list[tuple[Json, Json]] = []
    if isinstance(shown, dict) and isinstance(actual, dict):
        pairs = [(shown[name], actual[name]) for name in shown if name in actual]
    elif isinstance(shown, list) and isinstance(actual, list):
        pairs = list(zip(shown, actual, strict=False))
    return {old: new for one, other in pairs for old, new in _ids(one, other).items()}


def differences(shown: Json, actual: Json, at: str = "") -> list[str]:
    """Return the differences in shape from a shown response: members, numbers of items, types."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        return _of_objects(shown, actual, at)
    if isinstance(shown, list) and isinstance(actual, list):
        return _of_lists(shown, actual, at)
    if type(shown) is type(actual) or {type(shown), type(actual)} == {int, float}:
        return []
    return [f"{at}: shown is {shown!r}, got {actual!r}"]


def _of_objects(shown: Mapping[str, Json], actual: Mapping[str, Json], at: str) -> list[str]:
    missing = [f"{at}/{name}: missing" for name in shown if name not in actual and name != MORE]
    unshown = [f"{at}/{name}: not shown" for name in actual if name not in shown and MORE not in shown]
    inner = [differences(shown[name], actual[name], f"{at}/{name}") for name in shown if name in actual]
    return missing + unshown + [difference for some in inner for difference in some]


def _of_lists(shown: list[Json], actual: list[Json], at: str) -> list[str]:
    items = [item for item in shown if item != MORE]
    if len(items) > len(actual) or (len(items) < len(actual) and MORE not in shown):
        return [f"{at}: shown are {len(items)} items, got {len(actual)}"]
    inner = [differences(item, actual[i], f"{at}/{i}") for i, item in enumerate(items)]
    return [difference for some in inner for difference in some]


def rewritten(text: str, steps: list[Step], received: Responses) -> str:
    """Return a text with the current responses to its steps, and their ids.

    Raises SystemExit where a response has another shape, so that the text may be wrong too.
    """
    for step, response in zip(steps, received.responses, strict=True):
        if different := differences(step.response, response):
            raise SystemExit("\n".join([step.command, *different]))
        text = text.replace(step.shown, renewed(step.shown, response))
    for old, new in received.ids.items():
        text = text.replace(old, new)
    return text


def renewed(shown: str, actual: Json) -> str:
    """Return a shown response with the values of an actual one of the same shape; line breaks and `...` stay."""
    tokens: list[str] = TOKEN.findall(shown)
    position = 0

    def value(now: Json) -> str:
        nonlocal position
        token = tokens[position]
        position += 1
        if token not in ("{", "["):
            return token if token == MORE else json.dumps(now, ensure_ascii=False)
        out, index, closing = token, 0, {"{": "}", "[": "]"}[token]
        while (token := tokens[position]) != closing:
            if token.isspace() or token == ",":
                position += 1
                out += token
            elif token == MORE:
                out += value(None)
            elif isinstance(now, dict):
                position += 1
                out += token + tokens[position] + tokens[position + 1]  # "name", ":", " "
                position += 2
                out += value(now[json.loads(token)])
            elif isinstance(now, list):
                out += value(now[index])
                index += 1
        position += 1
        return out + closing

    return value(actual) + "".join(tokens[position:])
