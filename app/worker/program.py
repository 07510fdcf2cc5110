"""Which program this is: what is kept of a fit is gone on with only by the same one."""

import platform
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import app

FITS = ("domain", "sparse_bayes", "worker")
"""What decides which numbers a fit sees, and what it makes of them."""

FILES = ("answers", "domain", "services/answering", "sparse_bayes", "worker")
"""What decides which numbers stand in a file of predictions, and how they are written."""


def program(parts: Sequence[str] = FITS) -> str:
    """A digest of the sources, and the libraries and machine that compute with them: another one rounds differently."""
    root, digest = Path(app.__file__).parent, sha256()
    for part in parts:
        for path in sorted((root / part).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    libraries = ("numpy", "scipy", "pyarrow") if "answers" in parts else ("numpy", "scipy")
    return " ".join([digest.hexdigest()[:32], *(f"{name} {version(name)}" for name in libraries), platform.machine()])
