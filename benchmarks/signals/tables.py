"""All tables of signals."""

from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.signals.columns import columns
from benchmarks.signals.denoising import denoising
from benchmarks.signals.staircase import staircase


def signals(options: Options) -> list[Table]:
    """Jumps, the four signals, and the choice of columns."""
    return [*staircase(options), *denoising(options), *columns(options)]
