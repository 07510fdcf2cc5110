"""What a child may use, by the kernel's own limits."""

import resource
import sys

MEBIBYTE = 1024 * 1024


def limit_memory(most: int) -> None:
    """Let this process allocate no more than so many bytes; what it maps of files does not count.

    Past that an allocation fails, and Python raises MemoryError. Elsewhere than on Linux kernels take no notice.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
