"""The files of the page, read once: contents, compressed contents, entity tags, and a digest of all of them."""

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.http.compression import StaticContent

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
class Page:
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
def page() -> Page:
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
    return Page(files, digest.hexdigest()[:16])
