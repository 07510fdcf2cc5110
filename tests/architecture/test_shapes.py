"""Public functions of the mathematics give the shapes of their arrays in their docstrings."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "library" / "relevance_bayes"

FOLDERS = ("core", "tasks/approximation", "tasks/components", "tasks/images")

ARRAYS = re.compile(r"\b(Array|Indices|Mask)\b")

SHAPE = re.compile(r"\([^()]*,[^()]*\)|\bany shape\b|\bbroadcast")

EXCLUDED = frozenset({"numpy_namespace.py"})
"""The array API, whose functions are elementwise."""


@dataclass(frozen=True)
class Described:
    """A public function or method with arrays among its parameters or results."""

    place: str
    name: str
    is_method: bool
    docstring: str

    @property
    def has_shape(self) -> bool:
        return any(re.search("[A-Za-z]", found[0]) for found in SHAPE.finditer(self.docstring))


Holder = ast.Module | ast.ClassDef


def has_arrays(function: ast.FunctionDef) -> bool:
    arguments = (*function.args.args, *function.args.kwonlyargs)
    hints = [argument.annotation for argument in arguments] + [function.returns]
    return any(hint is not None and ARRAYS.search(ast.unparse(hint)) for hint in hints)


def described(tree: ast.Module, file: str) -> Iterator[Described]:
    """The public functions of a module, and the public methods of its public classes."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    holders: list[tuple[Holder, str]] = [(tree, ""), *((node, f"{node.name}.") for node in classes)]
    for holder, prefix in holders:
        for node in holder.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and has_arrays(node):
                docstring = ast.get_docstring(node) or ""
                yield Described(f"{file}: {prefix}{node.name}", node.name, bool(prefix), docstring)


def without_shapes(functions: list[Described]) -> list[str]:
    """Those without shapes; a method may have them in the docstring of another method of its name."""
    methods = {one.name for one in functions if one.is_method and one.has_shape}
    return [one.place for one in functions if not one.has_shape and not (one.is_method and one.name in methods)]


def test_public_functions_of_arrays_give_their_shapes() -> None:
    paths = [path for folder in FOLDERS for path in (LIBRARY / folder).rglob("*.py") if path.name not in EXCLUDED]
    functions = [
        one for path in paths for one in described(ast.parse(path.read_text()), path.relative_to(LIBRARY).as_posix())
    ]
    assert len(functions) > 400
    assert without_shapes(functions) == []


SAMPLE = '''
def mean(X: Array) -> float:
    """The mean of X (N, d)."""

def variance(X: Array) -> float:
    """The variance (population)."""

class Model:
    def predict(self, X: Array) -> Array:
        """The mean (N,)."""

    def score(self, t: Array) -> float: ...

    def _score(self, t: Array) -> float: ...

class Other:
    def predict(self, X: Array) -> Array: ...
'''


def test_functions_without_shapes_are_found() -> None:
    functions = [*described(ast.parse(SAMPLE), "sample.py")]
    assert without_shapes(functions) == ["sample.py: variance", "sample.py: Model.score"]
