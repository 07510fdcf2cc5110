"""The page on security: each risk of OWASP's list has tests that exist, and a statement of what is not covered."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
RISKS = (
    "Broken object level authorization",
    "Broken authentication",
    "Broken object property level authorization",
    "Unrestricted resource consumption",
    "Broken function level authorization",
    "Unrestricted access to sensitive business flows",
    "Server side request forgery",
    "Security misconfiguration",
    "Improper inventory management",
    "Unsafe consumption of APIs",
)
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)+)", PAGE, re.MULTILINE))
TEST = re.compile(r"^- `([\w/]+\.py)::(test_\w+)`$", re.MULTILINE)


def named_in(text: str) -> list[tuple[str, str]]:
    """The tests that a text names, each with its file."""
    return TEST.findall(text)


def functions(file: Path) -> set[str]:
    """The names of the functions of a module."""
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_page_has_each_risk_in_its_order() -> None:
    expected = [f"API{number}: {risk}" for number, risk in enumerate(RISKS, start=1)]
    assert [section for section in SECTIONS if section.startswith("API")] == expected


@pytest.mark.parametrize("section", [one for one in SECTIONS if one != "What is trusted"])
def test_a_section_names_tests_and_what_is_not_covered(section: str) -> None:
    assert len(named_in(SECTIONS[section])) >= 2
    assert len(re.findall(r"^\*\*Not covered:\*\* \w", SECTIONS[section], re.MULTILINE)) == 1


def test_each_test_of_the_page_exists() -> None:
    named = named_in(PAGE)
    assert len(named) == len(re.findall("::", PAGE)) - PAGE.count("`file::test`")
    assert [f"{file}::{test}" for file, test in named if test not in functions(ROOT / file)] == []


def test_the_policy_links_to_the_page() -> None:
    policy = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "docs/explanation/security.md" in policy
