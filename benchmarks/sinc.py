"""(a) sinc without noise, by linear splines; (b) with noise, by defaults."""

from functools import partial
from typing import Literal

import numpy as np

from app.sparse_bayes.algorithms import Algorithm, ReEstimation, Sequential
from app.sparse_bayes.basis import Bias, KernelBasis
from app.sparse_bayes.fitting import fit
from app.sparse_bayes.kernels import LinearSpline
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.prediction import latent
from app.sparse_bayes.scales import FixedWidth
from app.sparse_bayes.spec import Spec
from benchmarks.generators import sinc_split
from benchmarks.learning import regression, vectors
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table

PAPERS: dict[Literal["gaussian", "uniform"], tuple[str, str, str, str]] = {
    "gaussian": ("0.326", "6.7", "0.378", "45.2"),
    "uniform": ("0.187", "7.0", "0.215", "44.3"),
}
"""10 x RMSE and vectors: RVM, SVM [TIPPING2001, section 4.4]."""


def noise_free(options: Options) -> list[Table]:
    """One fit, nothing in it is random: raw inputs, noise sd fixed at 0.01."""
    algorithms: tuple[Algorithm, ...] = (Sequential(), ReEstimation())
    papers = (("JMLR 2001", "9", "", "0.0070"), ("NIPS 1999", "9", "", "0.0087"))
    return [
        Table(
            "sinc without noise, linear splines, N = 100, noise sd fixed at 0.01",
            ("", "vectors", "functions", "greatest error"),
            (*(_spline(algorithm) for algorithm in algorithms), *papers),
            ("Greatest absolute error on 1,000 points of [-10, 10]; functions count the bias, vectors don't.",),
        )
    ]


def _spline(algorithm: Algorithm) -> tuple[str, ...]:
    split = sinc_split("none", 0)
    basis = (KernelBasis(LinearSpline(), FixedWidth(1.0)), Bias())
    model = fit(split.X, split.t, Spec(GaussianNoise(0.01), basis, algorithm=algorithm))
    mean = latent(model, split.X_test).mean
    greatest = float(np.abs(mean - split.t_test).max())
    return f"ours, {algorithm.type}", str(vectors(model)), str(len(model.mean)), f"{greatest:.4f}"


def noisy(options: Options) -> list[Table]:
    """Defaults: inputs and targets standardised, width by 5-fold cross-validation."""
    rows = []
    for noise, papers in PAPERS.items():
        measured = repeated(partial(_noisy, noise), options.repeats, processes=options.processes)
        ours = (with_error(measured, "rmse", times=10.0), with_error(measured, "vectors", digits=1))
        rows.append((f"{noise} 0.1", *ours, with_error(measured, "functions", digits=1), *papers))
    return [
        Table(
            f"sinc with noise, N = 100, defaults, {options.repeats} draws",
            ("noise", "ours: 10 x RMSE", "vectors", "functions", "RVM 2001", "vectors", "SVM 2001", "vectors"),
            tuple(rows),
            ("RMSE to the true function on 1,000 points; mean ± its standard error.",),
        )
    ]


def _noisy(noise: Literal["gaussian", "uniform"], draw: int) -> Figures:
    return regression(sinc_split(noise, draw))
