"""Which program this is: what is kept of a fit is gone on with only by the same one."""

import platform
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy

import app

PARTS = ("domain", "sparse_bayes", "worker")
"""What decides which numbers a fit sees, and what it makes of them."""


def program() -> str:
    """A digest of the sources, and the libraries and machine that compute with them: another one rounds differently."""
    root, digest = Path(app.__file__).parent, sha256()
    for part in PARTS:
        for path in sorted((root / part).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return f"{digest.hexdigest()[:32]} numpy {np.__version__} scipy {scipy.__version__} {platform.machine()}"
