"""The peak memory of one fit, in a process of its own: `python -m benchmarks.one_fit ENGINE ROWS` prints bytes."""

import resource
import sys
from pathlib import Path

from benchmarks.engines import ENGINES, NOISE_SD
from benchmarks.generators import sinc_split

STATUS = Path("/proc/self/status")
WARM_UP_ROWS = 50


def peak_bytes() -> int:
    """The most memory that this process has had resident.

    Linux hands the parent's peak down through getrusage, even over exec; VmHWM is the process's own.
    """
    if STATUS.is_file():
        (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(engine: str, rows: int) -> None:
    """Print by how much a fit raised the peak over imports, a small fit and the data."""
    small, split = (sinc_split("gaussian", 0, rows=size, scale=NOISE_SD) for size in (WARM_UP_ROWS, rows))
    ENGINES[engine](small.X, small.t)
    start = peak_bytes()
    ENGINES[engine](split.X, split.t)
    print(peak_bytes() - start)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
