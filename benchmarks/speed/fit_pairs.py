"""The CPU time of one fit beside that of another checkout."""

import json
import os
import subprocess
from pathlib import Path

from benchmarks.files import NotRun
from benchmarks.options import Options
from benchmarks.pairs import PAIRS, compared
from benchmarks.report import Table
from benchmarks.speed.defaults import DEFAULTS, PROCESS

HERE = Path(__file__).parents[2]
SIZES, QUICK_SIZES = (5_000, 50_000), (240,)
QUICK_PAIRS = 3


def fit_pairs(options: Options) -> list[Table]:
    """One table: 20 alternating pairs of fits of the same rows, each in a process of its own."""
    if options.against is None:
        raise NotRun("it needs --against, the folder of another checkout with its environment")
    rows = []
    for size in QUICK_SIZES if options.quick else SIZES:
        pairs = [_pair(Path(options.against), size, draw) for draw in range(QUICK_PAIRS if options.quick else PAIRS)]
        before, after, ratio, low, high = compared(pairs)
        rows.append((f"{size:,}", f"{before:.2f}", f"{after:.2f}", f"{ratio:.3f}", f"{low:.3f} to {high:.3f}"))
    header = ("rows", "s before", "s after", "ratio", "95 % interval")
    note = f"{DEFAULTS.name}, {PROCESS.name}: pairs take turns in who is first; the interval is Student's t."
    return [Table("CPU time of one fit", header, tuple(rows), (note,))]


def _pair(other: Path, rows: int, draw: int) -> tuple[float, float]:
    """CPU seconds of both, the other one first in every second pair."""
    if draw % 2:
        after = _seconds(HERE, rows, draw)
        return _seconds(other, rows, draw), after
    return _seconds(other, rows, draw), _seconds(HERE, rows, draw)


def _seconds(root: Path, rows: int, draw: int) -> float:
    root = root.resolve()
    program = [str(root / ".venv/bin/python"), "-m", "benchmarks.speed.one_fit", DEFAULTS.name, PROCESS.name]
    path = os.pathsep.join((str(root), str(root / "library")))
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(
        [*program, str(rows), str(draw)], cwd=root, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    seconds: float = json.loads(output)["cpu"]
    return seconds
