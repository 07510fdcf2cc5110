"""The claims of docs/reference/python.md."""

import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from relevance_bayes.client import DEFAULT_URL, Client, connect
from relevance_bayes.client.registry import Models
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text()
TABLE = re.compile(r"^\| `(service\.[a-z_.]*)` \| \|\n\| --- \| --- \|\n((?:\|.*\n)+)", re.MULTILINE)
COLLECTIONS = [name for name, _ in inspect.getmembers(Client, lambda member: isinstance(member, property))]


def listed() -> dict[str, set[str]]:
    """The calls that the page lists, by what they are methods of."""
    found: dict[str, set[str]] = {}
    for owner, rows in TABLE.findall(PAGE):
        found.setdefault(owner.strip("."), set()).update(re.findall(r"^\| `(.*?\))` \|", rows, re.MULTILINE))
    return found


def calls_of(owner: object) -> set[str]:
    """All public methods as the page writes them: a parameter with a default has `=` behind it.

    Models are called, and have methods by their names.
    """
    methods = inspect.getmembers(type(owner), inspect.isfunction)
    found = {f"{name}({', '.join(_parameters(method))})" for name, method in methods if not name.startswith("_")}
    if isinstance(owner, Models):
        found.add(f"({', '.join(_parameters(Models.__call__))})")
        found |= {f"[name].{call}" for call in calls_of(owner["name"])}
    return found


def _parameters(method: object) -> list[str]:
    assert callable(method)
    _, *parameters = inspect.signature(method).parameters.values()
    return [
        f"**{one.name}" if one.kind is one.VAR_KEYWORD else one.name + ("" if one.default is one.empty else "=")
        for one in parameters
    ]


def test_the_page_has_every_method_of_the_client() -> None:
    with connect() as service:
        assert listed()["service"] == calls_of(service)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_page_has_every_method_of_a_collection(name: str) -> None:
    of_jobs = {re.sub(r", of=|of=, ", "", call) for call in listed()["service.trainings"]}
    of_jobs |= {call for call in listed()["service.evaluations"] if call.startswith("all(")}
    with connect() as service:
        calls = calls_of(getattr(service, name))
    on_page = listed()[f"service.{name}"]
    assert on_page <= calls <= on_page | of_jobs


def test_the_page_has_every_collection() -> None:
    assert {f"service.{name}" for name in COLLECTIONS} == set(listed()) - {"service"}


def test_the_pages_programs_give_what_they_show(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = run(PAGE.replace(DEFAULT_URL, url))
    assert len(lines) == 5
    for line in lines:
        if isinstance(line.given, float):
            assert line.given == pytest.approx(float(line.shown), rel=0.05), line
        else:
            assert str(line.given) == line.shown, line


def test_the_programs_of_the_introduction_give_what_they_show(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "how-to" / "python-client.md").read_text()
    lines = run(page.replace(DEFAULT_URL, url).replace(":memory:", url))
    assert len(lines) == 5
    for line in lines:
        assert str(line.given) == line.shown, line


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(relevance_bayes\.[a-z_.]+)`", PAGE))))
def test_every_module_of_the_page_is_there(module: str) -> None:
    assert find_spec(module) is not None
