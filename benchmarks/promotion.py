"""The rate of false promotions by `PairedDifferences`: of versions that are equally good."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

from app.evaluation.metrics.paired import PairedDifferences, verdict
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.core.types import Array

Draw = Callable[[Generator, int], Array]

DRAWS = 4_000
QUICK_DRAWS = 400
SEED = 2027
BETTER = 2.8
"""By so many standard errors of the mean a challenger is better whose promotions are counted as power."""

SHARED = 0.5
"""The share of a difference's variance that rows of one group have in common."""


def _equal_scale(log_density: Callable[[float], float], narrow: float) -> float:
    """The scale above 1 of which the expected log score is that of `narrow`."""
    return float(brentq(lambda scale: log_density(scale) - log_density(narrow), 1.01, 50.0))


def _student_score(scale: float) -> float:
    return float(student.expect(lambda y: student.logpdf(y, 3.0, scale=scale), args=(3.0,)))


NARROW = 0.6
WIDE_GAUSSIAN = _equal_scale(lambda scale: -math.log(scale) - 0.5 / scale**2, NARROW)


def gaussian_scores(random: Generator, rows: int) -> Array:
    """Gaussian targets under a Gaussian that is too narrow and one that is too wide."""
    targets = random.normal(size=rows)
    return np.asarray(norm.logpdf(targets, scale=NARROW) - norm.logpdf(targets, scale=WIDE_GAUSSIAN))


def student_scores(random: Generator, rows: int) -> Array:
    """Targets of Student's t with 3 degrees of freedom under two such densities, one too narrow and one too wide."""
    targets = random.standard_t(3.0, rows)
    wide = _wide_student()
    return np.asarray(student.logpdf(targets, 3.0, scale=NARROW) - student.logpdf(targets, 3.0, scale=wide))


@cache
def _wide_student() -> float:
    return _equal_scale(_student_score, NARROW)


def outlying_scores(random: Generator, rows: int) -> Array:
    """Targets of Student's t with 5 degrees of freedom: a Gaussian of their variance beside that density itself."""
    targets = random.standard_t(5.0, rows)
    score = norm.logpdf(targets, scale=math.sqrt(5.0 / 3.0)) - student.logpdf(targets, 5.0)
    return np.asarray(score - OUTLYING_MEAN)


OUTLYING_MEAN = -0.5 * (math.log(2.0 * math.pi * 5.0 / 3.0) + 1.0) + float(student.entropy(5.0))


def _discrete(share: float) -> Draw:
    """Errors of which one version alone has a share, and the other one the same."""
    return lambda random, rows: np.asarray(random.choice((-1.0, 0.0, 1.0), rows, p=(share, 1.0 - 2.0 * share, share)))


DIFFERENCES: Mapping[str, Draw] = {
    "normal": lambda random, rows: random.normal(size=rows),
    "exponential, long tail of gains": lambda random, rows: random.exponential(size=rows) - 1.0,
    "exponential, long tail of losses": lambda random, rows: 1.0 - random.exponential(size=rows),
    "log scores of two Gaussians": gaussian_scores,
    "log scores of two Student's t": student_scores,
    "error 0/1, one in 10 rows differs": _discrete(0.05),
    "error 0/1, six in 10 rows differ": _discrete(0.3),
}
"""Differences of mean 0 between the losses of two versions on one row."""

HEAVIER: Mapping[str, Draw] = {
    "log-normal, long tail of losses": lambda random, rows: math.exp(0.5) - random.lognormal(size=rows),
    "Gaussian beside Student's t, 5 degrees": outlying_scores,
}
"""Differences whose mean is made by rows so rare that few samples have any."""


@dataclass(frozen=True)
class Design:
    """Rows that are compared, `groups` of them by size; one row a group where there are no groups."""

    name: str
    sizes: tuple[int, ...]
    grouped: bool

    @classmethod
    def alone(cls, rows: int) -> "Design":
        """Rows without groups."""
        return cls(f"{rows:,} rows", (1,) * rows, grouped=False)


UNEQUAL = (3, 5, 8, 12, 18, 26, 36, 48, 64, 80)
DESIGNS = (
    *map(Design.alone, (10, 30, 100, 1_000, 10_000)),
    Design("10 groups of 30", (30,) * 10, grouped=True),
    Design("30 groups of 10", (10,) * 30, grouped=True),
    Design("10 groups of 3 to 80", UNEQUAL, grouped=True),
    Design("30 groups of 3 to 80", UNEQUAL * 3, grouped=True),
)


def drawn(design: Design, draw: Draw, random: Generator) -> Array:
    """The differences of a design's rows: those of one group have a part in common."""
    rows = draw(random, sum(design.sizes))
    if not design.grouped:
        return rows
    common = np.repeat(draw(random, len(design.sizes)), design.sizes)
    return math.sqrt(SHARED) * common + math.sqrt(1.0 - SHARED) * rows


def is_promoted(design: Design, differences: Array) -> bool:
    """True where the differences promote the challenger."""
    pair = PairedDifferences("mae", grouped=design.grouped)
    groups = np.repeat(np.arange(len(design.sizes), dtype=np.uint64), design.sizes) if design.grouped else None
    base = float(np.abs(differences).max())
    pair.add(base + differences, np.full(len(differences), base), groups)
    moved, _ = verdict(pair.result(), margin=0.0, by="interval", lost_rows=0)
    return moved


def false_promotions(design: Design, draw: Draw, draws: int, *, gain: float = 0.0) -> float:
    """The share of draws that promote; the challenger is better by `gain` standard errors."""
    random, promoted = np.random.default_rng(SEED), 0
    shift = gain * _standard_error(design, draw) if gain else 0.0
    for _ in range(draws):
        promoted += is_promoted(design, drawn(design, draw, random) + shift)
    return promoted / draws


def _standard_error(design: Design, draw: Draw) -> float:
    sd = float(draw(np.random.default_rng(SEED + 1), 200_000).std())
    rows = sum(design.sizes)
    shared = SHARED if design.grouped else 0.0
    squares = sum(size * size for size in design.sizes)
    return sd * math.sqrt(shared * squares / rows**2 + (1.0 - shared) / rows)


def promotion(options: Options) -> list[Table]:
    """False promotions by design and distribution, and power."""
    draws = QUICK_DRAWS if options.quick else DRAWS
    header = ("differences of mean 0", *(design.name for design in DESIGNS))
    false = [_row(name, draw, draws) for name, draw in DIFFERENCES.items()]
    heavier = [_row(name, draw, draws) for name, draw in HEAVIER.items()]
    power = [_row("normal", DIFFERENCES["normal"], draws, gain=BETTER)]
    note = (
        f"Percent of {draws:,} draws, nominally 2.5. Fewer than 30 rows, or than 10 groups of equal size, promote"
        f" nothing. Rows of a group share {SHARED:.0%} of their variance."
    )
    return [
        Table("False promotions between versions that are equally good", header, tuple(false), (note,)),
        Table(
            "The same where rare rows make the mean",
            header,
            tuple(heavier),
            ("No interval holds where no row of the sample shows the tail: bring more rows, or compare by `mae`.",),
        ),
        Table(f"Promotions of a challenger that is better by {BETTER} standard errors", header, tuple(power)),
    ]


def _row(name: str, draw: Draw, draws: int, *, gain: float = 0.0) -> tuple[str, ...]:
    return (name, *(f"{100.0 * false_promotions(design, draw, draws, gain=gain):.1f}" for design in DESIGNS))
