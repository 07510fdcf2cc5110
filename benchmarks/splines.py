"""The papers' first pictures: sinc by linear splines, without noise and with."""

from functools import partial
from typing import Literal

import numpy as np

from benchmarks.generators import sinc_split
from benchmarks.learning import vectors
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table
from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import LinearSpline
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import latent

SPLINES = (KernelBasis(LinearSpline(), FixedWidth(1.0)), Bias())

MAX_DRAWS = 20

FIGURE_1: dict[Literal["gaussian", "uniform"], tuple[str, str]] = {"gaussian": ("6", "0.189"), "uniform": ("", "")}
"""Vectors and the noise that was learned [TIPPING1999, figure 1]; the one of JMLR 2001 we have without its digits."""


def splines(options: Options) -> list[Table]:
    """Without noise and with."""
    return [_noise_free(), _noisy_splines(options)]


def _noise_free() -> Table:
    """One fit, nothing in it is random: raw inputs, noise sd fixed at 0.01."""
    algorithms: tuple[Algorithm, ...] = (Sequential(), ReEstimation())
    papers = (("JMLR 2001", "9", "", "0.0070"), ("NIPS 1999", "9", "", "0.0087"))
    return Table(
        "sinc without noise, linear splines, N = 100, noise sd fixed at 0.01",
        ("", "vectors", "functions", "greatest error"),
        (*(_spline(algorithm) for algorithm in algorithms), *papers),
        ("Greatest absolute error on 1,000 points of [-10, 10]; functions count the bias, vectors don't.",),
    )


def _spline(algorithm: Algorithm) -> tuple[str, ...]:
    split = sinc_split("none", 0)
    model = fit(split.X, split.t, Spec(GaussianNoise(0.01), SPLINES, algorithm=algorithm))
    mean = latent(model, split.X_test).mean
    maximum = float(np.abs(mean - split.t_test).max())
    return f"ours, {algorithm.type}", str(vectors(model)), str(len(model.mean)), f"{maximum:.4f}"


def _noisy_splines(options: Options) -> Table:
    """Figure 1 of NIPS 1999, and figure 2 of JMLR 2001, whose digits we do not have."""
    draws = min(options.repeats, MAX_DRAWS)
    rows = []
    for noise, papers in FIGURE_1.items():
        found = repeated(partial(_noisy_spline, noise), draws, processes=options.processes)
        rows.append((f"{noise} 0.2", *_cells(found), *papers))
    return Table(
        f"sinc with noise, linear splines, N = 100, {draws} draws",
        ("noise", "vectors", "noise sd learned", "RMSE", "NIPS 1999: vectors", "noise sd"),
        tuple(rows),
        ("Raw inputs, the papers' prior. Uniform noise of ± 0.2 has an sd of 0.115. RMSE to the truth.",),
    )


def _cells(found: list[Figures]) -> tuple[str, ...]:
    return with_error(found, "vectors", digits=1), with_error(found, "noise_sd"), with_error(found, "rmse", digits=4)


def _noisy_spline(noise: Literal["gaussian", "uniform"], draw: int) -> Figures:
    split = sinc_split(noise, draw, scale=0.2)
    model = fit(split.X, split.t, Spec(GaussianNoise(), SPLINES))
    rmse = float(np.sqrt(np.mean((latent(model, split.X_test).mean - split.t_test) ** 2)))
    return {"vectors": float(vectors(model)), "noise_sd": model.noise_sd or 0.0, "rmse": rmse}
