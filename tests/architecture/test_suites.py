"""The suites: every test but the long ones is run by a target of the Makefile that `.ci/run` calls."""

import re
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from tests.conftest import SUITES

ROOT = Path(__file__).parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
MARKS = [str(mark).partition(":")[0] for mark in CONFIGURATION["markers"]]
DEFAULT = str(CONFIGURATION["addopts"][CONFIGURATION["addopts"].index("-m") + 1])


def recipes() -> dict[str, str]:
    """The call of pytest of each target, for those that have one."""
    found = re.findall(r"^([a-z]+): [^=\n]*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    calls = {target: re.search(r"/pytest\b(.*)", recipe) for target, recipe in found}
    return {target: call[1] for target, call in calls.items() if call is not None}


def expression(call: str) -> str:
    """The `-m` of a call."""
    given = re.search(r'-m (?:"([^"]*)"|(\w+))', call)
    return DEFAULT if given is None else given[1] or given[2]


def folders(call: str) -> list[str]:
    """The folders of tests that a call is restricted to; none are all of them."""
    return re.findall(r"(?<= tests/)\w+", call)


def is_selected(by: str, marks: frozenset[str]) -> bool:
    """Return whether pytest selects a test of these marks by an expression of names, `and`, `or`, `not`."""
    names = re.sub(r"\b(?!(?:and|or|not)\b)\w+", lambda name: str(name[0] in marks), by)
    return bool(eval(names))  # of True, False, and, or, not alone


CALLS = recipes()
MAKES = re.findall(r"^timed make (?:--\S+ )*([a-z ]+)$", (ROOT / ".ci" / "run").read_text(), flags=re.MULTILINE)
IN_CI = [target for targets in MAKES for target in targets.split()]
OF_CI = [mark for mark in MARKS if mark != "long"]
SETS = [frozenset(some) for size in range(len(OF_CI) + 1) for some in combinations(OF_CI, size)]


def test_every_target_of_the_integration_run_is_a_suite() -> None:
    assert IN_CI == ["check", "thorough", "faults", "hostile", "browser", "monitoring", "upgrades"]
    assert set(IN_CI) <= {*CALLS}
    assert set(SUITES.values()) < {*MARKS}


@pytest.mark.parametrize("marks", SETS, ids=lambda marks: " and ".join(sorted(marks)) or "no mark")
def test_a_test_of_any_marks_is_run_by_a_target_that_the_integration_run_calls(marks: frozenset[str]) -> None:
    assert any(is_selected(expression(CALLS[target]), marks) for target in IN_CI)


@pytest.mark.parametrize(
    "marks", [{"long"}, {"long", "thorough"}, {"long", "hypothesis"}, {"thorough"}, {"hypothesis"}], ids=sorted
)
def test_what_is_long_is_run_by_make_long_alone_which_has_the_thorough_too(marks: set[str]) -> None:
    assert is_selected(expression(CALLS["long"]), frozenset(marks))
    for target in IN_CI:
        assert "long" not in marks or not is_selected(expression(CALLS[target]), frozenset(marks))


@pytest.mark.parametrize(("folder", "suite"), SUITES.items(), ids=SUITES)
def test_a_folder_of_a_suite_is_run_by_its_target_and_not_by_make_test(folder: str, suite: str) -> None:
    assert is_selected(expression(CALLS[suite]), frozenset({suite}))
    assert folder in folders(CALLS[suite])
    assert not is_selected(expression(CALLS["test"]), frozenset({suite}))
    assert any((ROOT / "tests" / folder).glob("test_*.py"))


@pytest.mark.parametrize("target", ["test", "check", "thorough", "long"])
def test_suites_of_all_folders_are_restricted_to_none(target: str) -> None:
    assert folders(CALLS[target]) == []
