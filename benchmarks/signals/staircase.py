"""A signal of 1,024 points with 11 jumps, as the slides have it, beside pursuits and the lasso of scikit-learn."""

from collections.abc import Callable
from warnings import catch_warnings, simplefilter

import numpy as np

from benchmarks.files import Split
from benchmarks.generators import staircase_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table
from benchmarks.signals.dictionaries import FOUR_WIDTHS, Denoised, ours
from benchmarks.signals.pursuits import Linear, lasso, pursuit, pursuit_by_folds
from relevance_bayes.core.basis import Basis, Bias
from relevance_bayes.core.dictionaries import Steps
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array

NOISE_SD = 0.1

MAX_DRAWS = 10

OFFERED: tuple[tuple[str, tuple[Basis, ...], dict[str, str]], ...] = (
    ("steps", (Steps(), Bias()), {"ours": "12 in 1.34 s"}),
    (
        "steps, Gaussians of 4 widths",
        (Steps(), *FOUR_WIDTHS, Bias()),
        {"ours": "12 in 43.3 s", "OMP, noise known": "82 in 24.6 s"},
    ),
)
"""And what the slides have [BURNAEV]."""

PEERS: dict[str, Callable[[Array, Array, float], Linear]] = {
    "OMP, noise known": pursuit,
    "OMP by CV": pursuit_by_folds,
    "lasso, BIC": lasso,
}

NOTES = (
    (
        "Blocks as it is defined, jumps from 2.1 to 5. Least squares with the known jumps would have an RMSE "
        "of 0.1 sqrt(12/1,024) = .0108. The bias is counted. Ours learn the noise; unpriced: the papers' prior."
    ),
    (
        "Peers' columns are centred and of one size. OMP is given the noise (it stops where the residual is what noise "
        "leaves), and so is the lasso, as it has to be where there are more functions than points. OMP by CV: 5 folds "
        "of shuffled points, at most 100 functions. Their columns are made beforehand; ours make them in these seconds."
    ),
)


def staircase(options: Options) -> list[Table]:
    """Functions kept, error and seconds of each engine on the same draws."""
    found = repeated(_figures, min(options.accuracy_draws, MAX_DRAWS), processes=options.processes)
    rows = tuple(
        (
            offered,
            f"{_candidates(basis):,}",
            name,
            with_error(found, f"{offered} {name} functions", digits=1),
            with_error(found, f"{offered} {name} rmse", digits=4),
            with_error(found, f"{offered} {name} seconds", digits=2),
            slides.get(name, ""),
        )
        for offered, basis, slides in OFFERED
        for name in ("ours", "ours, unpriced", *PEERS)
    )
    title = f"A staircase of 1,024 points with 11 jumps, noise of sd 0.1, {len(found)} draws"
    return [Table(title, ("offered", "of", "engine", "kept", "RMSE to the truth", "CPU s", "slides"), rows, NOTES)]


def _candidates(basis: tuple[Basis, ...]) -> int:
    split = staircase_split(0)
    return pose(split.X, split.t, Spec(GaussianNoise(), basis)).candidates.size


def _figures(draw: int) -> Figures:
    split, figures = staircase_split(draw), Figures()
    for offered, basis, _ in OFFERED:
        found = {"ours": ours(split, basis), "ours, unpriced": ours(split, basis, price=False)}
        found |= {name: _peer(learn, split, basis) for name, learn in PEERS.items()}
        for name, one in found.items():
            figures |= {
                f"{offered} {name} functions": float(one.functions),
                f"{offered} {name} rmse": one.rmse(split.t_test),
                f"{offered} {name} seconds": one.seconds,
            }
    return figures


def _peer(learn: Callable[[Array, Array, float], Linear], split: Split, basis: tuple[Basis, ...]) -> Denoised:
    candidates = pose(split.X, split.t, Spec(GaussianNoise(), basis[:-1])).candidates
    columns = candidates.columns(split.X, range(candidates.size))
    with catch_warnings():
        simplefilter("ignore")  # of columns that are all but one another's copies, as neighbours here are
        found = learn(columns, split.t, NOISE_SD)
    return Denoised(np.asarray(found(columns)), None, found.functions, found.seconds)
