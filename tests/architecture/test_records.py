"""Records that the library and the service both have with the same members are on a list, with their reasons."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel

import app
import relevance_bayes.client
import relevance_bayes.core
import relevance_bayes.documents
import relevance_bayes.records
import relevance_bayes.tasks
from app.http.problems import ProblemOut
from relevance_bayes.records.jobs import Progress

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "decisions" / "records.md"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| \S.* \|$", re.MULTILINE)


def modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    if hasattr(package, "__path__"):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def schemas() -> Iterator[ModuleType]:
    """The modules of the service with models of pydantic."""
    for path in sorted(Path(*app.__path__).rglob("*.py")):
        if "BaseModel)" in path.read_text("utf-8"):
            name = ".".join(path.relative_to(*app.__path__).with_suffix("").parts)
            yield importlib.import_module(f"app.{name.removesuffix('.__init__')}")


def records(*packages: ModuleType) -> dict[type, frozenset[str]]:
    """Dataclasses and models that are defined in packages, and their members, two at least."""
    found = {
        one: members(one)
        for package in packages
        for module in modules(package)
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__ and "[" not in one.__name__
    }
    return {one: names for one, names in found.items() if len(names) > 1}


def members(record: type) -> frozenset[str]:
    if is_dataclass(record):
        return frozenset(one.name for one in fields(record))
    return frozenset(record.model_fields) if issubclass(record, BaseModel) else frozenset()


def twins() -> set[tuple[str, str]]:
    """Each record of the service, documents, tasks or the core that has the members of one that goes over the wire."""
    wire = records(relevance_bayes.records, relevance_bayes.client)
    others = records(*schemas(), relevance_bayes.core, relevance_bayes.documents, relevance_bayes.tasks)
    return {
        (other.__name__, one.__name__) for other, names in others.items() for one, same in wire.items() if names == same
    }


def test_a_record_is_written_twice_only_where_the_page_states_why() -> None:
    listed = ROW.findall(PAGE.read_text("utf-8"))
    assert len(listed) == len(set(listed))
    found = twins()
    assert found - set(listed) == set(), "are one record, or belong on the page with a reason"
    assert set(listed) - found == set(), "are twins no more"


def test_members_are_those_of_dataclasses_and_of_models() -> None:
    assert members(Progress) >= {"phase", "log_marginal_likelihood"}
    assert members(ProblemOut) == members(relevance_bayes.client.Problem)
    assert members(int) == frozenset()
