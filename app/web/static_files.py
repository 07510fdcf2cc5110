"""The files of the page, read once: contents, compressed contents, entity tags, and a digest of all of them."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.http.conditional_requests import tag_of

FOLDER = Path(__file__).with_name("page")
INDEX = "index.html"
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


@dataclass(frozen=True)
class StaticFile:
    """A file: its content, the same compressed by gzip, and the entity tags of both."""

    media_type: str
    content: bytes
    compressed: bytes
    tag: str
    compressed_tag: str

    @classmethod
    def of(cls, path: Path) -> "StaticFile":
        """Return a file of the page."""
        content = path.read_bytes()
        compressed = gzip.compress(content, mtime=0)
        return cls(MEDIA_TYPES[path.suffix], content, compressed, tag_of(content), tag_of(compressed))


@dataclass(frozen=True)
class Page:
    """The files by their paths, and the digest of all contents, which is part of the path at which they are served."""

    files: Mapping[str, StaticFile]
    digest: str

    def index(self, prefix: str) -> str:
        """Return the document of the page whose files are served below a path.

        All modules are named in it, so that a browser requests them at once rather than import by import.
        """
        modules = sorted(name for name in self.files if name.endswith(".js"))
        preloads = "\n".join(f'  <link rel="modulepreload" href="{prefix}/{name}">' for name in modules)
        document = self.files[INDEX].content.decode()
        return document.replace("  <!-- modules -->", preloads).replace("{files}", prefix)


@cache
def page() -> Page:
    """Return the page of this process."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    files = {path.relative_to(FOLDER).as_posix(): StaticFile.of(path) for path in paths}
    digest = hashlib.sha256()
    for name, file in files.items():
        digest.update(f"{name}\0{len(file.content)}\0".encode())
        digest.update(file.content)
    return Page(files, digest.hexdigest()[:16])
