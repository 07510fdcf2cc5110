"""The language of the code: names and docstrings use words of the field, in which people search.

`test_names.py` reads what users see: the API, options, settings. Here are identifiers, modules, docstrings, comments
and messages.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_names import words

ROOT = Path(__file__).parents[2]

SHIPPED = ("app", "library/relevance_bayes")

PACKAGES = (*SHIPPED, "examples", "benchmarks", "migrations", "tests")

EXCLUDED = ("app/inference/rpc/generated/",)
"""Generated code."""

# fmt: off
WORDS = frozenset(
    {
        "asked", "beat", "beats", "bell", "breath", "breathe", "bury", "chore", "chores", "contender", "contenders",
        "courier", "door", "doors", "errand", "farthest", "fewest", "greatest", "happenings", "heard", "hearing",
        "heart", "house", "housekeeper", "insisting", "lookout", "met", "misfit", "misfits", "obstacle", "patience",
        "reap", "reaper", "rival", "rivals", "room", "rooms", "said", "saying", "soundness", "standing", "sweep",
        "swept", "tally", "tell", "tidy", "told", "trail", "trails", "wanted", "wholes",
    }
)
"""Words that name nothing in scikit-learn, GPyTorch, PostgreSQL or Stripe's API."""

WORDS_OF_TESTS = frozenset(
    {
        "answer", "answered", "answering", "answers", "ask", "asking", "asks", "gone", "say", "says", "stand", "stands",
        "stood", "telling", "tells", "whoever",
    }
)
"""Words that do not come back where responses, requests and reports are meant, in all code that is not installed."""
# fmt: on

ALLOWED = {
    "farthest_first": "farthest-first traversal, which is its name",
}
"""Names that stay, each with its reason."""

BOUND = re.compile(r"_?(MOST|LEAST|GREATEST|LARGEST|LONGEST|FEWEST|FARTHEST)(_|$)|(most|least|greatest|beyond)$")
"""Bounds are called MAX_ and MIN_, `maximum` and `minimum`; the variance beyond that of the weights is `residual`."""

QUESTIONS = frozenset({"How", "What", "Whether"})

# fmt: off
PROSE = (
    "app/", "benchmarks/", "examples/", "library/relevance_bayes/__init__.py", "library/relevance_bayes/cli/",
    "library/relevance_bayes/client/", "library/relevance_bayes/core/", "library/relevance_bayes/documents/",
    "library/relevance_bayes/records/", "library/relevance_bayes/tables/", "library/relevance_bayes/tasks/",
)
"""Files and folders whose prose is read: docstrings, comments and other string literals."""
# fmt: on

PHRASES = tuple(
    re.compile(phrase, re.IGNORECASE)
    for phrase in (
        r"\bdoors?\b",
        r"\b(tells?|told|telling)\b",
        r"\b(says?|said|saying)\b",
        r"\b(asks?|asked|asking)\b",
        r"\b(is|are|was|were) (heard|spoken)\b",
        r"\b(has|have|had) (no )?room\b",
        r"\broom (for|to)\b",
        r"\bmakes? room\b",
        r"\bat hand\b",
        r"\bwhoever\b",
        r"\bon (its|their) way (in|out)\b",
        r"\b(go|goes|went) out\b",
        r"\blets? (in|go of|somebody|anybody|everybody)\b",
        r"\bmade ready\b",
        r"\bno matter\b",
        r"\bfound out\b",
        r"\bmisfits?\b",
        r"\bas (it|they) came\b",
        r"\bstands? (at|before|behind|beside|between|in|on|side by side|within)\b",
        r"\bunpacks? to\b",
        r"\bin no time\b",
        r"\b(is|are) none of\b",
        r"\bare the most\b",
        r"\brows learned from\b",
    )
)
"""Idioms for which the field has a word: return, specify, request, contain, infer, at most, training rows."""


@cache
def sources() -> tuple[Path, ...]:
    return tuple(
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(EXCLUDED)
    )


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that a module's nodes define: classes, functions, parameters, variables, attributes."""
    for node in nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(asname=str(name)):
                yield name
            case _:
                pass


def docstrings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Docstrings of modules, classes and functions, and those that follow constants and members."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for number, statement in enumerate(node.body):
                is_described = number == 0 or isinstance(node, ast.Module | ast.ClassDef)
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))) if is_described:
                        yield text
                    case _:
                        pass


def literals(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """All strings of a module's nodes, docstrings among them."""
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case _:
                pass


def comments(source: str) -> Iterator[str]:
    if "#" not in source:
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@dataclass(frozen=True)
class Texts:
    """The names that a module defines, and its strings and comments."""

    identifiers: frozenset[str]
    docstrings: tuple[str, ...]
    comments: tuple[str, ...]
    literals: tuple[str, ...]

    @property
    def descriptions(self) -> list[str]:
        """Comments and docstrings, without line breaks: the other literals of tests are data."""
        return [*self.comments, *(" ".join(text.split()) for text in self.docstrings)]

    @property
    def prose(self) -> list[str]:
        """Comments, docstrings and other string literals, without line breaks."""
        return [*self.comments, *(" ".join(text.split()) for text in self.literals)]


def texts_of(source: str) -> Texts:
    nodes = [*ast.walk(ast.parse(source))]
    found = docstrings(nodes), comments(source), literals(nodes)
    return Texts(frozenset(identifiers(nodes)), *map(tuple, found))


@cache
def read(path: Path) -> Texts:
    """The texts of a file, read once: to parse all of them takes seconds."""
    return texts_of(path.read_text())


def phrases(texts: Iterable[str]) -> set[str]:
    """The idioms in texts."""
    return {found[0] for text in texts for phrase in PHRASES if (found := phrase.search(text))}


def idioms(names: frozenset[str], *, refused: frozenset[str] = WORDS) -> set[str]:
    """Those of the names that are not words of the field."""
    return {name for name in names - ALLOWED.keys() if words(name) & refused or BOUND.match(name)}


def questions(texts: Iterable[str]) -> list[str]:
    """Those of the docstrings that begin with a question's word."""
    return [text.split("\n")[0] for text in texts if text.split() and text.split()[0].strip(",:") in QUESTIONS]


SAMPLE = '''"""What is kept of jobs."""

MOST_ROOMS = 3
"""How many there may be."""


class Courier:
    """Deliverer of messages."""

    def tidy(self, told: int) -> int:
        """Whether it is done."""
        self.is_said = told
        return told
'''


def test_a_sample_of_private_idiom_is_found() -> None:
    found = texts_of(SAMPLE)
    assert idioms(found.identifiers) == {"MOST_ROOMS", "Courier", "tidy", "told", "is_said"}
    assert questions(found.docstrings) == ["What is kept of jobs.", "How many there may be.", "Whether it is done."]


SAMPLE_OF_PROSE = '''"""A header that every door
tells the client."""


def check(rows: int, most: int) -> None:
    # The query has no room, whoever sends it.
    if rows > most:
        raise ValueError(f"The table has {rows} rows, where {most} are the most.")
'''


def test_a_sample_of_idioms_in_prose_is_found() -> None:
    found = texts_of(SAMPLE_OF_PROSE)
    assert phrases(found.prose) == {"door", "tells", "has no room", "whoever", "are the most"}
    assert phrases(found.descriptions) == {"door", "tells", "has no room", "whoever"}
    assert phrases(["Return most of the standard rows, without a doorway or an intelligible story."]) == set()


@pytest.mark.parametrize("start", PROSE)
def test_prose_is_free_of_private_idioms(start: str) -> None:
    paths = [path for path in sources() if path.relative_to(ROOT).as_posix().startswith(start)]
    assert paths != []
    assert {path.name: found for path in paths if (found := phrases(read(path).prose))} == {}


@pytest.mark.parametrize("package", ["migrations", "tests"])
def test_descriptions_are_free_of_private_idioms(package: str) -> None:
    paths = [path for path in sources() if path.is_relative_to(ROOT / package)]
    assert paths != []
    assert {path.name: found for path in paths if (found := phrases(read(path).descriptions))} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_identifiers_and_modules_are_words_of_the_field(package: str) -> None:
    refused = WORDS if package in SHIPPED else WORDS | WORDS_OF_TESTS
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        if path.is_relative_to(ROOT / package)
        for name in idioms(read(path).identifiers | {path.stem}, refused=refused)
    }
    assert found == set()


def test_docstrings_begin_with_what_a_thing_is_or_does() -> None:
    found = {f"{path.relative_to(ROOT)}: {text}" for path in sources() for text in questions(read(path).docstrings)}
    assert found == set()


def test_every_exception_is_needed() -> None:
    used = {name for path in sources() for name in (path.stem, *read(path).identifiers)}
    assert ALLOWED.keys() <= used


def test_packages_are_read() -> None:
    assert len(sources()) > 500
