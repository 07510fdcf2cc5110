"""The cores and the memory of a machine, or of a control group such as a container or a unit of systemd, for fits."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

MEMORY_FOR_FITS = 0.8
CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""The mount of the control groups of version 2; those of version 1 are in a folder of it for each controller."""
OWN_GROUPS = Path("/proc/self/cgroup")
"""The kernel's file with the control groups of this process."""


def memory_of_fits() -> int:
    """Return the number of bytes that all fits together may allocate: most of the process's memory limit."""
    maximum = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for text in (*_limits("memory.max"), *_limits("memory.limit_in_bytes", "memory")):
        if text.isdigit():
            maximum = min(maximum, int(text))
    return int(MEMORY_FOR_FITS * maximum)


def cores() -> int:
    """Return the number of cores that this process may use, at most those of the CPU limits of its control groups."""
    maximum = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    for text in _limits("cpu.max"):
        quota, _, period = text.partition(" ")  # microseconds in a period, and the period
        if quota.isdigit():
            maximum = min(maximum, int(quota) // int(period))
    return max(1, maximum)


def _limits(name: str, controller: str = "") -> Iterator[str]:
    """Yield what a file of limits has in the control group of this process and in those around it.

    With a `controller` the groups are of version 1, else of version 2. A container sees its own group as the outermost.
    """
    groups = OWN_GROUPS.read_text().splitlines() if OWN_GROUPS.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in groups):
        if controller in controllers.split(","):
            mount = CONTROL_GROUPS / controller
            group = mount / path.lstrip("/")
            files = (folder / name for folder in (group, *group.parents) if folder.is_relative_to(mount))
            yield from (file.read_text().strip() for file in files if file.exists())
