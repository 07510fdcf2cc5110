"""The regular expressions of the project: those of its modules, by their syntax trees, and of the page's scripts."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.architecture.patterns import Use

ROOT = Path(__file__).parents[2]
SOURCES = {"app": ROOT, "library/relevance_bayes": ROOT / "library", "migrations": ROOT}
PAGE = ROOT / "app" / "web" / "page"
VENDOR = PAGE / "vendor"
"""Published packages, which read the page's own templates alone."""

MATCHES = frozenset({"match", "fullmatch"})
SEARCHES = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})

Pattern = re.Pattern[str] | re.Pattern[bytes]


@dataclass(frozen=True)
class Source:
    """A pattern of a file, or its text where it is made in a function, and whether it is searched for."""

    path: str
    text: str
    pattern: Pattern | None
    use: Use


def of_modules() -> Iterator[Source]:
    """Yield the patterns that modules compile, match or declare for members of requests."""
    paths = [(path, base) for folder, base in SOURCES.items() for path in sorted((ROOT / folder).rglob("*.py"))]
    texts = {path: path.read_text() for path, _ in paths}
    searched = frozenset(
        name
        for text in texts.values()
        for name in re.findall(rf"(\w+)(?:\[\w+\])?\.(?:{'|'.join(sorted(SEARCHES))})\b", text)
    )
    for path, base in paths:
        if re.search(r"\bre\.|pattern", texts[path]) is not None:
            name = ".".join(path.relative_to(base).with_suffix("").parts)
            yield from _of_module(path.relative_to(ROOT).as_posix(), name, ast.parse(texts[path]), searched)


def _of_module(path: str, name: str, tree: ast.Module, searched: frozenset[str]) -> Iterator[Source]:
    targets = {
        id(node.value): _last_name(node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := _function(node)) is not None:
            use = _use(function, targets.get(id(node)), searched)
            if use is not None:
                flags = node.args[1:2] if function == "compile" else []
                flags += [word.value for word in node.keywords if word.arg == "flags"]
                yield _source(path, name, node.args[0], flags, use)
        for declared in _declared(node):
            yield _source(path, name, declared, [], "search")


def _function(node: ast.Call) -> str | None:
    """Return the name of a function of `re` that is called, None for another one."""
    function = node.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name) or not node.args:
        return None
    return function.attr if function.value.id == "re" else None


def _use(function: str, target: str | None, searched: frozenset[str]) -> Use | None:
    if function == "compile":
        return "search" if target is None or target in searched else "match"
    if function in MATCHES:
        return "match"
    return "search" if function in SEARCHES else None


def _last_name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _declared(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the patterns of fields and headers, which the OpenAPI document has, so that clients compile them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Field", "Query"}:
        yield from (word.value for word in node.keywords if word.arg == "pattern")
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "pattern":
                yield value


def _source(path: str, name: str, pattern: ast.expr, flags: list[ast.expr], use: Use) -> Source:
    text = ast.unparse(pattern)
    names = vars(import_module(name))
    try:
        value = _value(pattern, names)
        compiled = re.compile(value, sum(int(_value(flag, names)) for flag in flags))  # type: ignore[call-overload]
    except NameError:
        return Source(path, text, None, use)
    return Source(path, text, compiled, use)


def _value(node: ast.expr, names: Mapping[str, object]) -> object:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))


def of_page() -> Iterator[Source]:
    """Yield the literals of the page's scripts, all of which may be searched for unless they are sticky."""
    for path in sorted(PAGE.rglob("*.js")):
        if not path.is_relative_to(VENDOR):
            for text, flags in literals(path.read_text()):
                use: Use = "match" if "y" in flags else "search"
                yield Source(path.relative_to(ROOT).as_posix(), text, _of_script(text, flags), use)


def literals(script: str) -> Iterator[tuple[str, str]]:
    """Yield the regular expressions of a script and their flags.

    A slash begins one where no value precedes it. Templates are read for what they interpolate.
    """
    braces: list[bool] = []
    """The open braces, and whether each interpolates a value into a template."""
    before, position = "", 0
    while position < len(script):
        found = _TOKEN.match(script, position)
        text = script[position] if found is None else found[0]
        position += len(text)
        if text.isspace() or text.startswith(("//", "/*")):
            continue
        if text == "`" or (text == "}" and braces and braces.pop()):
            end = _TEMPLATE.match(script, position)
            position += 0 if end is None else end.end() - position
            if script[position - 2 : position] == "${":
                braces.append(True)
                text = "{"
        elif text == "{":
            braces.append(False)
        elif text == "/" and (before in NO_VALUES or not re.match(r"[\w$)\]}\"'`]", before[-1:])):
            literal = _LITERAL.match(script, position)
            if literal is not None:
                yield literal["text"], literal["flags"]
                position = literal.end()
                text = literal[0]
        before = text


NO_VALUES = frozenset({"return", "typeof", "case", "in", "of", "void", "delete", "await", "yield", "=>"})
_TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|[\w$]+|=>|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_LITERAL = re.compile(r"(?P<text>(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[a-z]*)")


def _of_script(text: str, flags: str) -> Pattern:
    """Return a literal of a script as a pattern of Python."""
    known: Mapping[str, int] = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
    plain = re.sub(r"\(\?<(?![=!])", "(?P<", text).replace("\\/", "/").replace("[^]", r"[\s\S]")
    return re.compile(re.sub(r"\\k<(\w+)>", r"(?P=\1)", plain), sum(known.get(flag, 0) for flag in flags) | re.ASCII)
