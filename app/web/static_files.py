"""The files of the page, read once, and its modules as one script, for a document that no server serves."""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.http.content_encodings import StaticContent

FOLDER = Path(__file__).with_name("page")
INDEX = "index.html"
MAIN = "main.js"
MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
"""The media types of the files by suffix; a file with another suffix is not served."""

_STATIC_IMPORT = re.compile(r"""\b(?:from|import)\s*["'](\.{1,2}/[^"']+)["']""")


@dataclass(frozen=True)
class PageFiles:
    """The files by their paths, and the digest of all contents, which is part of the path at which they are served."""

    files: Mapping[str, StaticContent]
    digest: str

    def index(self, prefix: str) -> str:
        """Return the document of the page whose files are served below a path.

        All modules of a first view are named in it, so that a browser requests them at once rather than import by
        import; those that a view imports when it is opened are not.
        """
        modules = sorted({MAIN, *self.imported(MAIN)})
        preloads = "\n".join(f'  <link rel="modulepreload" href="{prefix}/{name}">' for name in modules)
        document = self.files[INDEX].content.decode()
        return document.replace("  <!-- modules -->", preloads).replace("{files}", prefix)

    def imported(self, module: str) -> set[str]:
        """Return the modules that a module and those in turn import statically."""
        found: set[str] = set()
        remaining = [module]
        while remaining:
            new = {*self._imports(remaining.pop())} - found
            found |= new
            remaining.extend(new)
        return found

    def _imports(self, module: str) -> Iterator[str]:
        folder = posixpath.dirname(module)
        for path in _STATIC_IMPORT.findall(self.files[module].content.decode()):
            yield posixpath.normpath(posixpath.join(folder, path))


@cache
def page() -> PageFiles:
    """Return the page of this process."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    files = {
        path.relative_to(FOLDER).as_posix(): StaticContent.of(path.read_bytes(), MEDIA_TYPES[path.suffix])
        for path in paths
    }
    digest = hashlib.sha256()
    for name, file in files.items():
        digest.update(f"{name}\0{len(file.content)}\0".encode())
        digest.update(file.content)
    return PageFiles(files, digest.hexdigest()[:16])


_DOCUMENTATION = re.compile(r"/\*\*\s.*?(?:\*/|\Z)", re.DOTALL)
"""JSDoc: types in it have the form of dynamic imports."""

_IMPORT = re.compile(r"^import\b\s*(?P<names>\{[\w$\s,]*\}|\w+)\s*from\s*\"(?P<path>[^\"]+)\";?", re.MULTILINE)
_DYNAMIC_IMPORT = re.compile(r"\bimport\(\s*\"(?P<path>[^\"]+)\"\s*\)")
_DECLARATION = re.compile(r"^export (?P<kind>const|class|function|async function) (?P<name>\w+)", re.MULTILINE)
_DEFAULT = re.compile(r"\bexport default\b")
_NAMES = re.compile(r"\bexport\s*\{(?P<names>[\w$\s,]*)\}(?!\s*from);?")
_LEFT = re.compile(
    r"(?:^[ \t]*|;)(?:import|export)\b|\bimport\(|\bimport\.meta\b|</?script|<!--", re.MULTILINE | re.IGNORECASE
)
"""Other forms of imports and exports, and text that would end a script in HTML: no linked module may have them."""


def linked(modules: Mapping[str, str], entry: str) -> str:
    """Return the script of a module and of all that it imports, from the texts of modules by their paths.

    Raises ValueError for an unknown form of import or export, for a module that is missing, and for a circle.
    """
    functions = dict(_reachable(modules, entry))
    bodies = ",\n".join(f"{json.dumps(path)}() {{\n{text}\n}}" for path, text in functions.items())
    return (
        '"use strict";\n(() => {\n'
        f"const modules = {{\n{bodies}\n}};\n"
        "const loaded = {};\n"
        "const load = (path) => (loaded[path] ??= modules[path]());\n"
        f"load({json.dumps(entry)});\n}})();"
    )


def _reachable(modules: Mapping[str, str], entry: str) -> Iterator[tuple[str, str]]:
    """Yield the linked text of each module, the imported ones first."""
    done: set[str] = set()

    def visit(path: str, importers: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        if path in importers:
            raise ValueError(f"expected no circle of imports, got {' imports '.join((*importers, path))}")
        if path in done:
            return
        done.add(path)
        if path not in modules:
            raise ValueError(f"expected the module {path}, which {importers[-1]} imports" if importers else path)
        text, imported = _linked(path, modules[path])
        for other in imported:
            yield from visit(other, (*importers, path))
        yield path, text

    return visit(entry, ())


def _linked(path: str, text: str) -> tuple[str, list[str]]:
    """Return the body of a module's function, and the paths of the modules that it imports."""
    folder, imported, exports = posixpath.dirname(path), list[str](), list[str]()

    def absolute(given: str) -> str:
        imported.append(posixpath.normpath(posixpath.join(folder, given)))
        return json.dumps(imported[-1])

    def statically(found: re.Match[str]) -> str:
        names = found["names"]
        bound = _pairs(names[1:-1]) if names.startswith("{") else [("default", names)]
        pattern = ", ".join(f"{name}: {local}" for name, local in bound)
        return f"const {{ {pattern} }} = load({absolute(found['path'])});"

    def dynamically(found: re.Match[str]) -> str:
        return f"Promise.resolve().then(() => load({absolute(found['path'])}))"

    def declared(found: re.Match[str]) -> str:
        exports.append(found["name"])
        return f"{found['kind']} {found['name']}"

    def named(found: re.Match[str]) -> str:
        exports.extend(f"{name}: {local}" for local, name in _pairs(found["names"]))
        return ""

    text = _IMPORT.sub(statically, _DOCUMENTATION.sub("", text))
    text = _DYNAMIC_IMPORT.sub(dynamically, text)
    text = _NAMES.sub(named, _DECLARATION.sub(declared, text))
    text, defaults = _DEFAULT.subn("const exportedDefault =", text)
    if defaults:
        exports.append("default: exportedDefault")
    if left := _LEFT.search(text):
        line = text[left.start() : left.start() + 80].strip().partition("\n")[0]
        raise ValueError(f"expected the forms of import and export that can be linked, got {line} in {path}")
    lines = "\n".join(line for line in text.splitlines() if line.strip())
    return f"{lines}\nreturn {{ {', '.join(exports)} }};", imported


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return the names on both sides of each `as`."""
    pairs = [[word.strip() for word in name.split(" as ")] for name in names.split(",") if name.strip()]
    return [(pair[0], pair[-1]) for pair in pairs]
