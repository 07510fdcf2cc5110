"""The identity of the program: a fit is resumed only by the program that began it."""

import platform
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import app
import relevance_bayes

FITS = ("app/tasks", "app/jobs/worker", "relevance_bayes/core", "relevance_bayes/tables", "relevance_bayes/tasks")
"""The modules that decide the result of a fit."""

FILES = (
    "app/formats",
    "app/prediction",
    "app/tasks",
    "app/jobs/worker",
    "relevance_bayes/core",
    "relevance_bayes/documents",
    "relevance_bayes/tables",
    "relevance_bayes/tasks",
)
"""The modules that decide the content of a file of predictions."""


def program(parts: Sequence[str] = FITS) -> str:
    """Return a digest of the sources, the libraries and the machine: another combination may round differently."""
    roots = {package.__name__: Path(package.__path__[0]).parent for package in (app, relevance_bayes)}
    digest = sha256()
    for part in parts:
        root = roots[part.split("/")[0]]
        files = sorted((root / part).rglob("*.py"))
        if not files:
            raise FileNotFoundError(f"expected sources in {root / part}")
        for path in files:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    libraries = ("numpy", "scipy", "pyarrow") if "app/formats" in parts else ("numpy", "scipy")
    return " ".join([digest.hexdigest()[:32], *(f"{name} {version(name)}" for name in libraries), platform.machine()])
