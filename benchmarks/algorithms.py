"""(e) Every algorithm of independent weights on the same rows: evidence against time, as in the slides [BURNAEV]."""

from dataclasses import dataclass
from time import process_time

from benchmarks.files import Split
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.speed import mixture, sinc
from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import iterate, pose
from relevance_bayes.core.models.model import Spec

ROWS, QUICK_ROWS = 1_000, 200
MAX_SECONDS = 300.0
NEAR = 1.0
"""Nats from the best end within which a fit is as good as there."""

ALGORITHMS: dict[str, Algorithm] = {
    "sequential, inner ascent": Sequential(),
    "sequential, one move at a time": Sequential("single"),
    "re-estimation, MacKay": ReEstimation(),
    "re-estimation, EM": ReEstimation("em"),
}

SLIDES = {
    "regression": {"re-estimation, MacKay": "257", "sequential, one move at a time": "14.4"},
    "classes": {"re-estimation, MacKay": "298", "sequential, one move at a time": "12.8"},
}
"""Seconds of the slides' old and new RVM, N = 1,000, on the machine and the data of their author."""


@dataclass(frozen=True)
class Trace:
    """CPU seconds, evidence in nats and functions at each state; whether the last was the end."""

    seconds: tuple[float, ...]
    evidence: tuple[float, ...]
    functions: tuple[int, ...]
    ended: bool

    def near(self, best: float) -> float | None:
        """Seconds until the evidence was never again further than NEAR from the best."""
        far = [place for place, value in enumerate(self.evidence) if value < best - NEAR]
        if not far:
            return self.seconds[0]
        return self.seconds[far[-1] + 1] if far[-1] + 1 < len(self.seconds) else None


def traces(options: Options) -> dict[str, dict[str, Trace]]:
    """For regression and classes, each algorithm's."""
    rows = QUICK_ROWS if options.quick else ROWS
    problems: dict[str, tuple[Split, Likelihood, float]] = {
        "regression": (sinc.noisy(rows, 0), GaussianNoise(), 3.0),
        "classes": (mixture.drawn(rows, 0), Bernoulli(), 0.5),
    }
    return {
        name: {title: _traced(split, likelihood, width, algorithm) for title, algorithm in ALGORITHMS.items()}
        for name, (split, likelihood, width) in problems.items()
    }


def _traced(split: Split, likelihood: Likelihood, width: float, algorithm: Algorithm) -> Trace:
    spec = Spec(likelihood, (KernelBasis(width=FixedWidth(width)), Bias()), algorithm=algorithm)
    begun = process_time()
    seconds, evidence, functions, ended = [], [], [], False
    for state in iterate(pose(split.X, split.t, spec), spec):
        seconds.append(process_time() - begun)
        evidence.append(state.objective)
        functions.append(len(state.active))
        ended = state.termination is not None
        if seconds[-1] > MAX_SECONDS:
            break
    return Trace(tuple(seconds), tuple(evidence), tuple(functions), ended)


def algorithms(options: Options) -> list[Table]:
    """One fit each, of a given width."""
    rows = []
    for problem, found in traces(options).items():
        best = max(trace.evidence[-1] for trace in found.values())
        for name, trace in found.items():
            near = trace.near(best)
            rows.append(
                (
                    problem,
                    name,
                    str(len(trace.seconds) - 1),
                    "–" if near is None else f"{near:.2f}",
                    f"{trace.seconds[-1]:.2f}" if trace.ended else f"more than {trace.seconds[-1]:.0f}",
                    f"{trace.evidence[-1]:.2f}",
                    str(trace.functions[-1]),
                    SLIDES[problem].get(name, ""),
                )
            )
    count = QUICK_ROWS if options.quick else ROWS
    header = (
        "problem",
        "algorithm",
        "steps",
        f"CPU s to {NEAR:g} nat of the best",
        "CPU s to the end",
        "evidence, nats",
        "functions",
        "slides: s",
    )
    note = (
        "Regression: sinc, noise 0.2, Gaussian r = 3. Classes: Ripley's mixture, r = 0.5. Kernel values count. The "
        "slides' rows, width and machine are not known."
    )
    return [Table(f"Every algorithm to the end of one fit, N = {count:,}", header, tuple(rows), (note,))]
