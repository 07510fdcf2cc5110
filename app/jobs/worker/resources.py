"""The cores and the memory of a machine, or of a container, that fits may use."""

import os
import sys
from pathlib import Path

MEMORY_FOR_FITS = 0.8
CONTROL_GROUP = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""The kernel's files with a container's memory limit, for control groups v2 and v1."""
CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
"""The kernel's file with a container's CPU limit, for control groups v2: microseconds in a period, and the period."""


def memory_of_fits() -> int:
    """Return the number of bytes that all fits together may allocate: most of the process's memory limit."""
    maximum = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in CONTROL_GROUP:
        if path.exists() and (text := path.read_text().strip()).isdigit():
            maximum = min(maximum, int(text))
    return int(MEMORY_FOR_FITS * maximum)


def cores() -> int:
    """Return the number of cores that this process may use, at most those of its container's CPU limit."""
    maximum = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    quota, _, period = CPU_LIMIT.read_text().partition(" ") if CPU_LIMIT.exists() else ("max", "", "")
    return max(1, min(maximum, int(quota) // int(period))) if quota.isdigit() else maximum
