"""Figures of the source text of what is installed: repeated members, records and names, and its size."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "library/relevance_bayes")
GENERATED = ROOT / "app" / "inference" / "rpc" / "generated"

MIN_MEMBERS = 4
"""The number of members from which on a call is a copy of a record, and a class is a record."""

MIN_OVERLAP = 0.6
"""The share of two records' members, of all that either has, from which on they are twins."""

SHORT = 40
"""The number of lines from which on a file is long enough."""


@dataclass(frozen=True)
class Class:
    """A class, its public members with an annotation, and the feature or the part of the library that it is in."""

    name: str
    folder: str
    members: frozenset[str]

    @property
    def is_record(self) -> bool:
        return len(self.members) >= MIN_MEMBERS

    def is_twin_of(self, other: "Class") -> bool:
        shared = self.members & other.members
        is_alike = len(shared) >= MIN_OVERLAP * len(self.members | other.members)
        return self.folder != other.folder and len(shared) >= MIN_MEMBERS and is_alike


@dataclass(frozen=True)
class Module:
    """The figures of a module, without its syntax tree: those of all modules take hundreds of megabytes."""

    path: str
    lines: int
    classes: tuple[Class, ...]
    copies: tuple[int, ...]
    """The numbers of members that calls and dictionaries copy by name, of those that copy four or more."""
    public_names: int
    """The number of public classes and functions at its top."""


def installed() -> tuple[Module, ...]:
    """All modules of the service and of the library, without generated ones."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return tuple(
        module(path.relative_to(ROOT).as_posix(), path.read_text())
        for path in paths
        if not path.is_relative_to(GENERATED)
    )


def without_tests(modules: Iterable[Module]) -> list[str]:
    """The files that no test file is named after: `app/logs.py` has `tests/test_logs.py`."""

    def test_of(path: Path) -> Path:
        inside = path.relative_to("library/relevance_bayes" if path.parts[0] == "library" else "app")
        return Path("tests", *path.parts[:1] * (path.parts[0] == "library"), inside.parent, f"test_{path.name}")

    paths = [Path(one.path) for one in modules]
    named = [path for path in paths if not path.stem.startswith("__")]
    return [f"{path} lacks {test_of(path)}" for path in named if not (ROOT / test_of(path)).exists()]


REPLACEMENT = re.compile(r"\.(?:setattr|setitem|delattr|delitem)\(|\bMock\(")
"""Of a part, or of the value of a constant."""

LOWERED = re.compile(r'\.setattr\(\s*(?:[\w.]+,\s*)?"(?:[\w.]+\.)?[A-Z][A-Z_0-9]*"')
"""A constant, as the rows of a block, that has a value in a test by which few rows are many: no part is replaced."""


def lowered_constants() -> int:
    """The number of constants that tests give other values."""
    return _occurrences(LOWERED)


def replaced_parts() -> int:
    """The number of parts of the code that tests replace, in place of using them."""
    return _occurrences(REPLACEMENT) - lowered_constants()


def _occurrences(pattern: re.Pattern[str]) -> int:
    return sum(len(pattern.findall(path.read_text())) for path in (ROOT / "tests").rglob("*.py"))


def module(path: str, text: str) -> Module:
    """Read a module's text; its path is relative to the root."""
    tree = ast.parse(text)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.Call | ast.Dict)]
    folder = "/".join(path.removeprefix("library/").split("/")[:2])  # as app/jobs or relevance_bayes/core
    definitions = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return Module(
        path,
        text.count("\n"),
        tuple(Class(node.name, folder, _members(node)) for node in nodes if isinstance(node, ast.ClassDef)),
        tuple(number for number in map(_copied_members, nodes) if number >= MIN_MEMBERS),
        sum(isinstance(node, definitions) and not node.name.startswith("_") for node in tree.body),
    )


def _copied_members(node: ast.AST) -> int:
    """The number of members that a call or a dictionary copies by name.

    Such are `f(a=x.a)`, `f(a=str(x.a))`, `f(a=g(a))`, `f(a=None if b else x.a)` and `{"a": x.a}`.
    """
    pairs: Iterable[tuple[object, ast.expr]]
    match node:
        case ast.Call(keywords=keywords):
            pairs = ((one.arg, one.value) for one in keywords)
        case ast.Dict(keys=keys, values=values):
            names = (key.value if isinstance(key, ast.Constant) else None for key in keys)
            pairs = zip(names, values, strict=True)
        case _:
            return 0
    return sum(name is not None and name == _copied_name(value) for name, value in pairs)


def _copied_name(value: ast.expr) -> str | None:
    """The name of the member or variable that an expression takes or converts; None for a plain variable."""
    if not isinstance(value, ast.Attribute | ast.Call | ast.IfExp):
        return None
    while True:
        match value:
            case ast.Call(args=[inner]) | ast.IfExp(orelse=inner):
                value = inner
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return name
            case _:
                return None


def _members(node: ast.ClassDef) -> frozenset[str]:
    """The public members that a class annotates, without variables of the class."""
    return frozenset(
        field.target.id
        for field in node.body
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and not field.target.id.startswith("_")
        and "ClassVar" not in ast.unparse(field.annotation)
    )


def copies(modules: Iterable[Module]) -> list[int]:
    """The number of members that each copy of four or more copies by name."""
    return [number for one in modules for number in one.copies]


def twins(modules: Iterable[Module]) -> set[int]:
    """The indices, among records, of those most of whose members are in a record of another folder too."""
    records = (one for module in modules for one in module.classes if one.is_record)
    pairs = combinations(enumerate(records), 2)
    return {index for (a, one), (b, other) in pairs if one.is_twin_of(other) for index in (a, b)}


def homonyms(modules: Iterable[Module]) -> set[str]:
    """The public names that two classes or more have."""
    counts = Counter(one.name for module in modules for one in module.classes)
    return {name for name, count in counts.items() if count > 1 and not name.startswith("_")}


def short_files(modules: Iterable[Module]) -> list[str]:
    """The modules below 40 lines, packages' `__init__.py` left out."""
    return [one.path for one in modules if one.lines < SHORT and not one.path.endswith("/__init__.py")]


def lines(modules: Iterable[Module]) -> int:
    """The number of lines of all modules."""
    return sum(one.lines for one in modules)


def public_names_per_thousand_lines(modules: Sequence[Module]) -> float:
    """The number of public classes and functions at the top of modules, per thousand lines."""
    return 1000 * sum(one.public_names for one in modules) / lines(modules)
