"""The resource limits of a child process."""

import resource
import sys
from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """`threads` share passes over all rows; `memory` in bytes, and rows times candidates, None where without bound."""

    threads: int = 1
    memory: int | None = None
    candidate_cells: int | None = None


def limit_memory(most: int) -> None:
    """Let this process allocate no more than so many bytes; what it maps of files does not count.

    Past that an allocation fails, and Python raises MemoryError. Elsewhere than on Linux kernels take no notice.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
