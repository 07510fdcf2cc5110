"""One fit in a process of its own: `python -m benchmarks.speed.one_fit RACE ENTRANT ROWS DRAW` prints its figures."""

import json
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.files import Split
from benchmarks.repeats import Figures
from benchmarks.speed.races import RACES
from benchmarks.speed.racing import Entrant, Fitted, Race

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
WARM_UP_ROWS = 50

BRIEF = 1.0
"""A fit of fewer CPU seconds is done again for its time: the first one is also that of pages never touched before."""


def figures_of(race: Race, entrant: Entrant, rows: int, draw: int) -> Figures:
    """`wall` and `cpu` seconds, `functions`, `error`, and the `peak` of memory in bytes, all by a fresh process."""
    command = (sys.executable, "-m", __name__, race.name, entrant.name, str(rows), str(draw))
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: Figures = json.loads(output)
    return figures


def measure(race: Race, entrant: Entrant, rows: int, draw: int) -> Figures:
    """In this process: by how much the fit raised the resident memory above imports, a small fit and the data."""
    entrant.learn(race.split(WARM_UP_ROWS, draw))
    split = race.split(rows, draw)
    before = forget_peak()
    fitted, seconds = _timed(entrant, split)
    peak = peak_bytes() - before
    if seconds["cpu"] < BRIEF:
        fitted, seconds = _timed(entrant, split)
    error = race.error(fitted.predict(split.X_test), split.t_test)
    return seconds | {"functions": float(fitted.functions), "error": error, "peak": float(peak)}


def _timed(entrant: Entrant, split: Split) -> tuple[Fitted, Figures]:
    wall, cpu = perf_counter(), process_time()
    fitted = entrant.learn(split)
    return fitted, {"wall": perf_counter() - wall, "cpu": process_time() - cpu}


def forget_peak() -> int:
    """The peak from here on, which is what is resident now where the system can forget the one before."""
    with suppress(OSError):
        RESET.write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """The most memory that this process has had resident.

    Linux hands the parent's peak down through getrusage, even over exec; VmHWM is the process's own.
    """
    if STATUS.is_file():
        (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(name: str, entrant: str, rows: int, draw: int) -> None:
    """Print the figures as JSON."""
    race = RACES[name]
    print(json.dumps(measure(race, race.entrant(entrant), rows, draw)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
