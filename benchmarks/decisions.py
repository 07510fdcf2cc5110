"""The cost of decisions on Ripley's mixture with other class frequencies and costs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.accuracy.class_peers import support
from benchmarks.accuracy.ours import classifier
from benchmarks.accuracy.scoring import Classifier
from benchmarks.files import Split
from benchmarks.generators import ripley_places, ripley_probabilities, ripley_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.decisions import Decisions, decided, with_priors

LEARNED = np.array([0.5, 0.5])
"""The frequencies of the classes in the training rows."""

MISTAKES = np.array([[0.0, 1.0], [1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Situation:
    """Where decisions are made: classes as frequent as `priors` (2,), `costs[truth][decision]`, and of no answer."""

    name: str
    priors: Array
    costs: Array
    reject_cost: float | None = None

    def paid(self, decisions: Decisions, truth: Array) -> float:
        """The mean cost of decisions where classes have the probabilities `truth` (N, 2): exact but for the places."""
        cost = (truth @ self.costs)[np.arange(len(truth)), decisions.chosen]
        return float(np.where(decisions.rejected, self.reject_cost or 0.0, cost).mean())


SITUATIONS = (
    Situation("as learned, mistakes cost 1", LEARNED, MISTAKES),
    Situation("class 1 is one in ten", np.array([0.9, 0.1]), MISTAKES),
    Situation("a missed class 1 costs 10", LEARNED, np.array([[0.0, 1.0], [10.0, 0.0]])),
    Situation("one in ten, a missed one costs 30", np.array([0.9, 0.1]), np.array([[0.0, 1.0], [30.0, 0.0]])),
    Situation("no answer costs 0.1", LEARNED, MISTAKES, reject_cost=0.1),
)

ENGINES: tuple[tuple[str, Callable[[Split], Classifier]], ...] = (
    ("ours", classifier),
    ("RVM", partial(classifier, prior=Independent())),
    ("SVC", support),
)

HEADER = (
    "where decided",
    "ours: label",
    "decision",
    "expected",
    "RVM: label",
    "decision",
    "SVC: its sign",
    "Platt, decision",
    "Bayes' rule",
)
NOTES = (
    (
        "Mean cost of a decision, exact at 10,000 places of each draw; 250 training rows, both classes equally "
        "frequent, only the target specified. `label`: the most probable class as learned. `decision`: by "
        "`class_priors`, `costs` and `reject_cost`; `expected`: the mean of its `expected_cost`. RVM: independent "
        "weights, width by 5-fold CV."
    ),
    "SVC: C and gamma by 5-fold CV; Platt's sigmoid on left-out predictions, reweighed and decided by the same rules.",
)


def mixture(options: Options) -> list[Table]:
    """Deciding by the rules that are meant for it, beside the most probable class."""
    found = repeated(_costs, options.accuracy_draws, processes=options.processes)
    rows = tuple(
        (
            situation.name,
            *(with_error(found, f"{number} {figure}") for figure in FIGURES),
            with_error(found, f"{number} best"),
        )
        for number, situation in enumerate(SITUATIONS)
    )
    return [Table(f"Decisions on Ripley's mixture, {len(found)} draws", HEADER, rows, NOTES)]


FIGURES = ("ours label", "ours decision", "ours expected", "RVM label", "RVM decision", "SVC label", "SVC decision")


def _costs(draw: int) -> Figures:
    split = ripley_split(draw, measured=2)
    learned = [(name, learn(split)) for name, learn in ENGINES]
    figures: Figures = {}
    for number, situation in enumerate(SITUATIONS):
        X = ripley_places(draw, situation.priors)
        truth = ripley_probabilities(X, situation.priors)
        best = decided(truth, situation.costs, situation.reject_cost)
        figures[f"{number} best"] = situation.paid(best, truth)
        for name, one in learned:
            predicted = one.predict(X)
            label = decided(np.eye(2)[predicted.labels.astype(np.intp)])
            probabilities = with_priors(predicted.probabilities, LEARNED, situation.priors)
            decision = decided(probabilities, situation.costs, situation.reject_cost)
            figures[f"{number} {name} label"] = situation.paid(label, truth)
            figures[f"{number} {name} decision"] = situation.paid(decision, truth)
            figures[f"{number} {name} expected"] = float(decision.expected_cost.mean())
    return figures
