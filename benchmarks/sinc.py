"""(a) the papers' small examples: sinc by linear splines, a curve beside a line; (b) sinc with noise, by defaults."""

from functools import partial
from typing import Literal

import numpy as np

from app.sparse_bayes.algorithms import Algorithm, ReEstimation, Sequential
from app.sparse_bayes.basis import Bias, Inputs, KernelBasis
from app.sparse_bayes.fitting import fit
from app.sparse_bayes.kernels import LinearSpline
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.prediction import latent
from app.sparse_bayes.scales import EvidencePerInputWidth, FixedWidth
from app.sparse_bayes.spec import Spec
from benchmarks.generators import curve_and_line_split, sinc_split
from benchmarks.learning import PROCESS, regression, vectors
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table

PAPERS: dict[Literal["gaussian", "uniform"], tuple[str, str, str, str]] = {
    "gaussian": ("0.326", "6.7", "0.378", "45.2"),
    "uniform": ("0.187", "7.0", "0.215", "44.3"),
}
"""10 x RMSE and vectors: RVM, SVM [TIPPING2001, section 4.4]."""


SPLINES = (KernelBasis(LinearSpline(), FixedWidth(1.0)), Bias())

MOST_DRAWS = 20

FIGURE_1: dict[Literal["gaussian", "uniform"], tuple[str, str]] = {"gaussian": ("6", "0.189"), "uniform": ("", "")}
"""Vectors and the noise that was learned [TIPPING1999, figure 1]; the one of JMLR 2001 we have without its digits."""

CURVES = {
    "ours, one width": Spec(GaussianNoise()),
    "ours, scales by evidence, inputs": Spec(
        GaussianNoise(), (KernelBasis(width=EvidencePerInputWidth()), Bias(), Inputs())
    ),
    "ours, process": PROCESS,
}


def splines(options: Options) -> list[Table]:
    """Without noise, with noise, and beside a line."""
    return [_noise_free(), _noisy_splines(options), _curve_and_line(options)]


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
    greatest = float(np.abs(mean - split.t_test).max())
    return f"ours, {algorithm.type}", str(vectors(model)), str(len(model.mean)), f"{greatest:.4f}"


def _noisy_splines(options: Options) -> Table:
    """Figure 1 of NIPS 1999, and figure 2 of JMLR 2001, whose digits we do not have."""
    draws = min(options.repeats, MOST_DRAWS)
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


def _curve_and_line(options: Options) -> Table:
    """Section 4.3 of JMLR 2001: scales by evidence, and the inputs as functions."""
    draws = min(options.repeats, MOST_DRAWS)
    rows = []
    for name, spec in CURVES.items():
        found = repeated(partial(_curve, spec), draws, processes=options.processes)
        squared = [one | {"mse": one["rmse"] ** 2} for one in found]
        cells = (with_error(squared, figure, digits=digits) for figure, digits in (("mse", 5), ("functions", 1)))
        rows.append((name, *cells, with_error(found, "noise_sd")))
    papers = (("RVM 2001, the same", "0.0053", "8", ""), ("SVM 2001", "0.0194", "75", ""))
    return Table(
        f"sinc(x_1) + 0.1 x_2, N = 100, noise sd 0.1, {draws} draws",
        ("", "squared error", "functions", "noise sd learned"),
        (*rows, *papers),
        (
            (
                "Inputs uniform on [-10, 10]; error to the truth at 1,000 fresh rows. The paper does not say that its "
                "errors are squares; 8 weights learned from 100 such rows have one of about .0008, .028 its root."
            ),
        ),
    )


def _curve(spec: Spec, draw: int) -> Figures:
    return regression(curve_and_line_split(draw), spec)


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
