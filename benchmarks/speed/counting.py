"""Values of the kernel that one fit computes: `python -m benchmarks.speed.counting WAY ROWS` prints how many."""

import subprocess
import sys

from benchmarks.speed.sinc import WAYS, noisy


def evaluations_of(way: str, rows: int) -> int:
    """Of the first draw, in a process of its own: what counts is not timed."""
    command = (sys.executable, "-m", __name__, way, str(rows))
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(name: str, rows: int) -> None:
    """Print the number."""
    (way,) = (way for way in WAYS if way.name == name)
    print(way.evaluations(noisy(rows, 0)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
