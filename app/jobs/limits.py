"""The resource limits of a child process."""

import resource
import sys
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Threads of passes over all rows, `memory` in bytes, and rows times candidates; None: no limit."""

    threads: int = 1
    memory: int | None = None
    candidate_cells: int | None = None


def limit_memory(most: int) -> None:
    """Limit the memory that this process may allocate, in bytes; mapped files do not count.

    Beyond the limit an allocation fails, and Python raises MemoryError. Only Linux enforces it.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
