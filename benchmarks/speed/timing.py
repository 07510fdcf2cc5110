"""The tables of time: all entrants in turn, draw after draw, and the medians."""

from functools import partial
from statistics import fmean, median

from benchmarks.options import Options
from benchmarks.remembered import Remembered
from benchmarks.repeats import Figures, middle
from benchmarks.report import Table
from benchmarks.speed.counting import evaluations_of
from benchmarks.speed.defaults import CANDIDATES, DEFAULTS, DRAWN_TABLES, MAX_TREES
from benchmarks.speed.mixture import MIXTURE, bayes_error
from benchmarks.speed.one_fit import figures_of
from benchmarks.speed.racing import Race
from benchmarks.speed.sinc import MEETING, NOISE_SD, SINC, WIDTH

LONG, LONG_DRAWS = 5.0, 3
"""A fit of more CPU seconds is measured on fewer draws, ..."""

VERY_LONG = 60.0
"""... and one of more than these on the first alone."""

HOW = """\
Each fit has a fresh process and one thread; every draw is fitted by all in turn. Medians over the draws: three where a
fit takes more than 5 s, one where it takes more than a minute. On a busy machine CPU seconds grow up to twofold, for
all alike: the ratio is the median of the draws' ratios. Kernel and search count. Peak: resident memory above that
before the fit, when imports, a small fit and the data are there."""

SINC_PEERS = """\
fastrvm: RVR(kernel="rbf", gamma=r**-2, fit_intercept=True), noise learned, all else by its defaults. SVR: C = 1,
epsilon half the noise's sd, targets standardised: a single fit with three given parameters. RMSE to the true
function on 1,000 points."""

MEETING_WAYS = """\
Factor: an incomplete Cholesky factor of the kernel matrix replaces it in every product with the candidates' columns,
which leaves no entry more than 1e-12 off. Columns: they are computed as they are. 500 rows: only so many may carry a
function, drawn by a seed. Evaluations are counted on the first draw, in a process that is not timed."""

MIXTURE_PEERS = "Raw inputs. SVC: C = 1, no probabilities; a single fit. Error on 10,000 new rows."

DEFAULTS_PEERS = f"""\
Ours: what a job gets that names only its data and its target, or the prior too. GP: scikit-learn, ConstantKernel * RBF
(a length for each input) + WhiteKernel, one start. Trees: HistGradientBoostingRegressor with early stopping,
{CANDIDATES} candidates by RandomizedSearchCV, 5 folds, at most {MAX_TREES:,} trees; its functions are trees."""

FRIEDMAN_ERROR = "MSE to the true function on 1,000 rows; noise of sd 1."

TABLES = """\
192 rows: spectra of 100 inputs, smooth curves of 5 factors. 600: 128 inputs of 8 factors, noise of sd .1. 3,304: counts
whose log mean is linear in 3 of 18 inputs. 22,500: 31 inputs of 12 factors, noise of sd 2. RMSE on 2,000
rows with noise."""


def sinc(options: Options) -> list[Table]:
    """sinc with Gaussian noise, one Gaussian width for all, and the ways of meeting the candidates."""
    title = f"One fit to sinc, noise {NOISE_SD}, Gaussian r = {WIDTH:g}"
    return [_table(title, SINC, options, "RMSE", 4, SINC_PEERS), _meeting(options)]


def classes(options: Options) -> list[Table]:
    """Two classes of Ripley's mixture."""
    title = "One fit to Ripley's mixture, Gaussian r = 0.5"
    best = fmean(bayes_error(draw) for draw in range(options.rounds))
    peers = f"{MIXTURE_PEERS} Bayes' rule errs on {best:.2f} % of such."
    return [_table(title, MIXTURE, options, "error %", 2, peers)]


def defaults(options: Options) -> list[Table]:
    """Friedman's first function and drawn tables by defaults."""
    return [
        _table("Friedman 1 by defaults", DEFAULTS, options, "MSE", 3, f"{DEFAULTS_PEERS} {FRIEDMAN_ERROR}"),
        _table("Drawn tables by defaults", DRAWN_TABLES, options, "RMSE", 3, TABLES),
    ]


def _table(title: str, race: Race, options: Options, error: str, digits: int, peers: str) -> Table:
    first = race.entrants[0].name
    header = ("N", "engine", "wall s", "CPU s", f"CPU / {first}", "functions", error, "peak MB")
    rows: list[tuple[str, ...]] = []
    for size in _sizes(race, options):
        found = _raced(race, size, options)
        for name, figures in found.items():
            times = (f"{middle(figures, 'wall'):.4f}", f"{middle(figures, 'cpu'):.4f}", _ratio(figures, found[first]))
            kept = (f"{middle(figures, 'functions'):g}", f"{middle(figures, 'error'):.{digits}f}")
            rows.append((f"{size:,}", name, *times, *kept, f"{middle(figures, 'peak') / 1e6:.0f}"))
    return Table(f"{title}, {options.rounds} draws", header, tuple(rows), (peers, HOW, *race.absent()))


def _meeting(options: Options) -> Table:
    rows: list[tuple[str, ...]] = []
    for size in _sizes(MEETING, options):
        for name, figures in _raced(MEETING, size, options).items():
            count = evaluations_of(name, size)
            times = (f"{count:,}", f"{count / size**2:.3f}", f"{middle(figures, 'cpu'):.4f}")
            kept = (f"{middle(figures, 'functions'):g}", f"{middle(figures, 'error'):.5f}")
            rows.append((f"{size:,}", name, *times, *kept, f"{middle(figures, 'peak') / 1e6:.0f}"))
    header = ("N", "candidates", "kernel evaluations", "/ N^2", "CPU s", "functions", "RMSE", "peak MB")
    title = f"Ways of evaluating candidates: the same fits, {options.rounds} draws"
    return Table(title, header, tuple(rows), (MEETING_WAYS, *MEETING.absent()))


def _sizes(race: Race, options: Options) -> tuple[int, ...]:
    return race.quick_sizes if options.quick else race.sizes


def _raced(race: Race, rows: int, options: Options) -> dict[str, list[Figures]]:
    """The figures of each who can run on so many rows, as far as they are in the file of draws from there."""
    rounds = options.rounds
    found: dict[str, list[Figures]] = {one.name: [] for one in race.entrants if one.runs(rows)}
    for draw in range(rounds):
        for name, figures in found.items():
            if draw < _draws(figures, rounds):
                measure = partial(figures_of, race, race.entrant(name), rows)
                of = (race.name, name, str(rows))
                figures.append(Remembered(measure, of, options.draws_file)(draw))
    return found


def _draws(figures: list[Figures], rounds: int) -> int:
    """The number of draws to measure of one whose first are these."""
    seconds = figures[0]["cpu"] if figures else 0.0
    if seconds > VERY_LONG:
        return 1
    return min(LONG_DRAWS, rounds) if seconds > LONG else rounds


def _ratio(figures: list[Figures], first: list[Figures]) -> str:
    """Over the draws that both were measured on."""
    return f"{median(one['cpu'] / other['cpu'] for one, other in zip(figures, first, strict=False)):.2f}"
