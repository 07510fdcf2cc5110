"""The sizes of an image's parts: as files, and compressed as a registry keeps them."""

import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from deploy.image.contents import blocks

PACKAGES, SERVICE, GUIDE = "Python packages", "service and library", "guide"
PARTS = (
    (r"srv/venv/lib/[^/]+/site-packages/app/guide/", GUIDE),
    (r"srv/venv/lib/[^/]+/site-packages/(app|relevance_(bayes|server))[/-]", SERVICE),
    (r"srv/venv/", PACKAGES),
    (r"usr/local/bin/pg_", "pg_dump and pg_restore"),
    (r"srv/", SERVICE),
    (r"", "base image with Debian's packages"),
)
"""The patterns with which the paths of a part begin; the first one that matches decides."""

MAX_PACKAGES_MB, MAX_COMPRESSED_MB = 500.0, 300.0
"""Of the Python packages."""

MIN_SHOWN_MB = 5.0


@dataclass
class Size:
    """Bytes of files, and of their compressed stream."""

    files: int = 0
    compressed: int = 0
    _stream: "zlib._Compress" = field(default_factory=lambda: zlib.compressobj(6))

    def add(self, block: bytes) -> None:
        """Count a block of a file."""
        self.files += len(block)
        self.compressed += len(self._stream.compress(block))

    def end(self) -> None:
        """Count what the compressor holds."""
        self.compressed += len(self._stream.flush())

    def __str__(self) -> str:
        return f"{self.files / 1e6:8.1f} MB {self.compressed / 1e6:8.1f} MB compressed"


def sizes(archive: tarfile.TarFile) -> tuple[dict[str, Size], dict[str, int]]:
    """The sizes of the parts, and the bytes of each Python package."""
    parts = {name: Size() for _, name in PARTS}
    packages: dict[str, int] = {}
    for member in archive:
        part = next(name for pattern, name in PARTS if re.match(pattern, member.name))
        for block in blocks(archive, member):
            parts[part].add(block)
        if part == PACKAGES:
            package = package_of(member.name)
            packages[package] = packages.get(package, 0) + member.size
    for size in parts.values():
        size.end()
    return parts, packages


def package_of(path: str) -> str:
    """The Python package of a path in the environment; its shared libraries and its metadata belong to it."""
    found = re.search(r"/site-packages/_?(\w+?)(_binary)?(?=[./-]|$)", path)
    return found[1].lower() if found else "environment"


def report(parts: dict[str, Size], packages: dict[str, int]) -> Iterator[str]:
    """Lines of a table, the greatest packages first."""
    for name, size in parts.items():
        yield f"{name:36} {size}"
    greatest = sorted(packages.items(), key=lambda item: -item[1])
    shown = [(name, size) for name, size in greatest if size >= MIN_SHOWN_MB * 1e6]
    yield "of the Python packages:"
    yield from (f"  {name:34} {size / 1e6:8.1f} MB" for name, size in shown)
    rest = greatest[len(shown) :]
    yield f"  {f'{len(rest)} others':34} {sum(size for _, size in rest) / 1e6:8.1f} MB"


def excesses(packages: Size) -> list[str]:
    """The limits that the Python packages exceed."""
    limited = (("", packages.files, MAX_PACKAGES_MB), (" compressed", packages.compressed, MAX_COMPRESSED_MB))
    return [
        f"the Python packages have {size / 1e6:.1f} MB{what}: at most {limit:g} MB"
        for what, size, limit in limited
        if size > limit * 1e6
    ]
