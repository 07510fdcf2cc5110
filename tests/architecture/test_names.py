"""Names that users see: words of the field, split at underscores, hyphens and capitals."""

import copy
import re
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperGroup

from app.cli.commands import application
from app.http.openapi import OBJECT_DEFAULT
from app.settings import Settings
from relevance_bayes.cli.commands import load_all
from tests.architecture.openapi import Json, missing, today

# fmt: off
WORDS = frozenset(
    {
        "answered", "asked", "beyond", "bell", "breath", "bury", "courier", "door", "errand", "express",
        "floor", "greatest", "happenings", "holder", "house", "insisting", "least", "looks", "lookout", "met",
        "obstacle", "patience", "reap", "rival", "rivals", "said", "saying", "silence", "soundness", "standing",
        "sweep", "tell", "tidy", "told", "trail", "typicality", "unanswered", "walk", "wanted", "wholes",
    }
)
"""Words that name nothing that somebody from the field would look for."""

NAMES = frozenset(
    {
        "amplitude", "at_most", "contenders", "dof", "explained", "holds_versions", "impossible", "is_kept",
        "keep_events_days", "keep_results_days", "left_out", "lost_rows", "most", "pictures", "place",
        "process_sd", "reached", "refuse", "span", "vectors", "within",
    }
)
"""Whole names that were given up."""
# fmt: on


def of_the_api(value: Json) -> Iterator[str]:
    """Paths, parameters, schemas, members and values of an OpenAPI document, without its texts and examples."""
    match value:
        case dict():
            for name in ("name", "const"):
                if isinstance(named := value.get(name), str):
                    yield named
            for name in ("properties", "schemas", "paths"):
                if isinstance(there := value.get(name), dict):
                    yield from there
            if isinstance(values := value.get("enum"), list):
                yield from (one for one in values if isinstance(one, str))
            for name, inner in value.items():
                if name not in {"example", "examples", "default", OBJECT_DEFAULT}:
                    yield from of_the_api(inner)
        case list():
            for inner in value:
                yield from of_the_api(inner)


def of_the_command(command: TyperGroup) -> Iterator[str]:
    """Names of commands, their arguments and options."""
    load_all(command)
    for name, inner in command.commands.items():
        yield name
        for parameter in inner.params:
            yield from (one.lstrip("-") for one in (*parameter.opts, *parameter.secondary_opts))
        if isinstance(inner, TyperGroup):
            yield from of_the_command(inner)


def words(name: str) -> set[str]:
    """`rows_not_predicted`, `--max-functions` and `ComparedModelOut` in lower-case words."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


NAMED = {
    "api": lambda: {*of_the_api(today())},
    "command": lambda: {*of_the_command(typer.main.get_group(application))},
    "settings": lambda: {*Settings.model_fields},
}


@pytest.mark.parametrize("surface", NAMED)
def test_no_name_that_users_see_is_private_idiom(surface: str) -> None:
    named = NAMED[surface]()
    assert len(named) > 20
    assert {name for name in named if name in NAMES or words(name) & WORDS} == set()


def test_names_are_read_in_words() -> None:
    assert words("rows_not_answered") & WORDS == {"answered"}
    assert words("--told-by") & WORDS == {"told"}
    assert words("WantedOutputIn") & WORDS == {"wanted"}


def test_what_is_removed_from_the_api_is_named() -> None:
    after = today()
    before = copy.deepcopy(after)
    assert isinstance(after, dict)
    assert isinstance(after["paths"], dict)
    del after["paths"]["/v1/datasets"]
    lost = [*missing(before, after)]
    assert {one.split()[0] for one in lost} == {"GET", "POST"}
    assert [*missing(before, before)] == []
