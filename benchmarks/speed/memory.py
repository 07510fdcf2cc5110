"""The memory of a fit above its data."""

from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.speed.defaults import AUTOMATIC, DEFAULTS, PROCESS
from benchmarks.speed.one_fit import figures_of
from benchmarks.speed.racing import Entrant, Race
from benchmarks.speed.sinc import NOISE_SD, SINC, WIDTH

SIZES = (4_000, 16_000, 100_000)
QUICK_SIZES = (1_000, 4_000)

FITS: tuple[tuple[str, Race, Entrant], ...] = (
    (f"independent, sinc, noise {NOISE_SD}, r = {WIDTH:g}", SINC, SINC.entrants[0]),
    ("gaussian_process, Friedman 1, defaults", DEFAULTS, PROCESS),
    ("automatic, Friedman 1, defaults", DEFAULTS, AUTOMATIC),
)

NOTES = """\
Resident memory of a fresh process at its peak, above that before the fit, when imports, a small fit and the data are
there: what is standardised is a copy, and counts. One draw."""


def memory(options: Options) -> list[Table]:
    """By rows, and by what is fitted."""
    sizes = QUICK_SIZES if options.quick else SIZES
    rows = [_row(*fit, size) for fit in FITS for size in sizes]
    return [Table("Peak memory of one fit", ("fit", "N", "data MB", "peak MB", "CPU s"), tuple(rows), (NOTES,))]


def _row(name: str, race: Race, entrant: Entrant, rows: int) -> tuple[str, ...]:
    figures = figures_of(race, entrant, rows, 0)
    split = race.split(2, 0)
    data = rows * 8 * (split.X.shape[1] + 1)
    return name, f"{rows:,}", f"{data / 1e6:.1f}", f"{figures['peak'] / 1e6:.0f}", f"{figures['cpu']:.2f}"
