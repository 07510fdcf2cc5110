"""Small fits of all tasks and likelihoods, and the stored predictions of each.

`python -m tests.library.tasks.small_fits` stores them again, after a change that is meant to change them.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.random import Generator

from benchmarks.golden_trainings import (
    TARGET,
    Draw,
    categories,
    counts,
    curve,
    known_noise,
    likelihood,
    line,
    noise,
    noise_by_input,
    outliers,
    positive,
    ripley,
    several_classes,
    smooth,
    surface,
    table,
)
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import train
from relevance_bayes.core.types import Array
from relevance_bayes.estimators.fitting import (
    FittedComponents,
    FittedSupervised,
    blocks_of,
    learn,
    learn_components,
    one_blas_thread,
)
from relevance_bayes.records.datasets import Image
from relevance_bayes.tables.columns import Block, NumberArray, block_rows, taken
from relevance_bayes.tasks.approximation.report import ApproximationModel
from relevance_bayes.tasks.approximation.request import ApproximationRequest, plan_approximation
from relevance_bayes.tasks.approximation.training import ApproximationTraining
from relevance_bayes.tasks.fit import Fit, Fitted, Limits
from relevance_bayes.tasks.images.report import ImageModel
from relevance_bayes.tasks.images.request import ImageRequest, plan_image
from relevance_bayes.tasks.images.training import ImageTraining
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from tests.small_tables import dataset_of

STORE = Path(__file__).with_name("small_fits.json")

NEW_ROWS = 4
"""Rows of each draw that are predicted and not trained on."""

Figures = Mapping[str, tuple[float, ...]]
"""The number of functions, and predictions, by their names."""


def supervised(training: Block, new: Block, options: Mapping[str, object]) -> Figures:
    """Means and standard deviations, or the probabilities of the classes."""
    version = FittedSupervised.of(*learn(training, {"target": TARGET, **options}))
    report = version.exported.report
    predicted = version.model.predict({one.name: new[one.name] for one in report.plan.inputs}, PredictOptions())
    found = {"functions": (float(report.functions),)}
    if isinstance(predicted, RegressionPrediction):
        return {**found, "mean": listed(predicted.mean), "sd": listed(predicted.sd)}
    assert isinstance(predicted, ClassificationPrediction)
    return {**found, "probabilities": listed(predicted.probabilities)}


def components(training: Block, new: Block, options: Mapping[str, object]) -> Figures:
    """The first component, and the log density."""
    version = FittedComponents.of(*learn_components(training, options))
    predicted = version.model.predict(new, PredictOptions())
    return {
        "functions": (float(version.exported.report.functions),),
        "component": listed(predicted.components[:, 0]),
        "log_density": listed(predicted.log_density),
    }


def approximation(training: Block, new: Block, options: Mapping[str, object]) -> Figures:
    """The values of the approximated function."""
    dataset = dataset_of(training)
    plan = plan_approximation(ApproximationRequest(dataset.id, width=1.0, coefficients=TARGET), dataset)
    with TemporaryDirectory() as folder:
        work = ApproximationTraining.prepare(plan, dataset, lambda: blocks_of(training), Path(folder))
        found = work.version(result_of(work.fit), seconds=0.0, holding=lambda _: (0, training))
    predicted = ApproximationModel(found.predictor).predict(new, PredictOptions())
    return {"functions": (float(found.report.functions),), "value": listed(predicted.value)}


def image(training: Block, new: Block, options: Mapping[str, object]) -> Figures:
    """The intensities between pixels."""
    side = math.isqrt(block_rows(training))
    dataset = replace(dataset_of(training), image=Image(side, side))
    plan = plan_image(ImageRequest(dataset.id), dataset)
    with TemporaryDirectory() as folder:
        work = ImageTraining.prepare(plan, dataset, lambda: blocks_of(training), Path(folder))
        found = work.version(result_of(work.fit), seconds=0.0, holding=lambda _: (0, training))
    predicted = ImageModel(found.predictor, plan.peak).predict(new, PredictOptions())
    return {"functions": (float(found.report.functions),), "value": listed(predicted.value)}


def result_of(fit: Fit) -> object:
    """The result of a fit in this process."""
    with one_blas_thread():
        *_, last = fit.steps(train, Limits(), FitLog())
    return expected(last, Fitted).result


def listed(values: Array) -> tuple[float, ...]:
    return tuple(values.ravel().tolist())


def shares(rng: Generator, rows: int) -> Block:
    """Targets between 0 and 1, whose logit is a smooth function with noise."""
    inputs = rng.normal(size=(rows, 2))
    return table(inputs, 1.0 / (1.0 + np.exp(-surface(inputs) - 0.3 * rng.normal(size=rows))))


def amounts(rng: Generator, rows: int) -> Block:
    """Zeros, the more the lower a smooth function, and positive targets."""
    inputs = rng.normal(size=(rows, 2))
    t = np.exp(surface(inputs) + 0.3 * rng.normal(size=rows))
    return table(inputs, np.where(rng.uniform(size=rows) < 1.0 / (1.0 + np.exp(surface(inputs))), 0.0, t))


def terms(rng: Generator, rows: int) -> Block:
    """The centres and coefficients of a sum of Gaussians."""
    return table(rng.uniform(-3.0, 3.0, (rows, 2)), rng.normal(size=rows))


def heaps(rng: Generator, rows: int) -> Block:
    """Two inputs in three heaps, and no target."""
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    block = table(centres[rng.integers(3, size=rows)] + 0.4 * rng.normal(size=(rows, 2)), np.zeros(rows))
    return {name: column for name, column in block.items() if name != TARGET}


def pixels(rng: Generator, rows: int) -> Block:
    """A square of waves and noise, line by line, and then positions beside its pixels."""
    side = math.isqrt(rows)
    row, column = np.divmod(np.arange(rows, dtype=np.float64), side)
    inside = row < side
    row, column = np.where(inside, row, column + 0.5), np.where(inside, column, 1.5 * column)
    t = 5.0 * np.sin(0.02 * (row + column) ** 2) + 0.1 * rng.normal(size=rows)
    return {"row": NumberArray(row), "column": NumberArray(column), "intensity": NumberArray(t)}


@dataclass(frozen=True)
class SmallFit:
    """A fit of `rows` rows of a draw by the `options` of a request, and predictions of others."""

    name: str
    rows: int
    draw: Draw
    options: Mapping[str, object] = field(default_factory=dict)
    fit: Callable[[Block, Block, Mapping[str, object]], Figures] = supervised
    tolerance: float = 1e-9
    """The relative tolerance of predictions, above ten times their largest difference between OpenBLAS's kernels of
    processors with SSE3, SSE4.2, AVX2 and AVX-512 (`OPENBLAS_CORETYPE`), between which a search ends at slightly
    different hyperparameters."""

    def figures(self) -> Figures:
        """Train and predict."""
        block = self.draw(np.random.default_rng((self.rows, *self.name.encode())), self.rows + NEW_ROWS)
        parts = slice(0, self.rows), slice(self.rows, None)
        training, new = ({name: taken(column, part) for name, column in block.items()} for part in parts)
        return self.fit(training, new, self.options)


FITS = (
    SmallFit("four rows", 4, line),
    SmallFit("curve", 40, curve(0.1), tolerance=1e-8),
    SmallFit("three inputs", 60, smooth, tolerance=1e-7),
    SmallFit("noise alone", 40, noise),
    SmallFit("categories and gaps", 60, categories),
    SmallFit("outliers", 60, outliers, tolerance=1e-8),
    SmallFit("noise by row", 50, known_noise, likelihood("gaussian", noise_sd={"column": "sd"})),
    SmallFit("heteroscedastic", 30, noise_by_input, likelihood("gaussian", noise_sd="heteroscedastic")),
    SmallFit("student_t", 40, outliers, likelihood("student_t")),
    SmallFit("log_gaussian", 40, positive, likelihood("log_gaussian")),
    SmallFit("logit_gaussian", 40, shares, likelihood("logit_gaussian")),
    SmallFit("poisson", 40, counts(None), likelihood("poisson")),
    SmallFit("negative_binomial", 30, counts(2.0), likelihood("negative_binomial")),
    SmallFit("hurdle", 40, amounts, likelihood("hurdle")),
    SmallFit("two classes", 60, ripley(0.5), tolerance=1e-6),
    SmallFit("three classes", 40, several_classes(3), tolerance=1e-6),
    SmallFit("categorical", 30, several_classes(3), likelihood("categorical"), tolerance=1e-6),
    SmallFit("bernoulli_per_class", 40, several_classes(3), likelihood("bernoulli_per_class"), tolerance=1e-6),
    SmallFit("one_against_rest", 40, several_classes(3), likelihood("one_against_rest"), tolerance=1e-6),
    SmallFit("approximation", 60, terms, fit=approximation),
    SmallFit("components", 60, heaps, fit=components),
    SmallFit("image", 256, pixels, fit=image),
)


def stored() -> dict[str, Figures]:
    """The stored figures, by the names of the fits."""
    found: dict[str, Figures] = json.loads(STORE.read_text("utf-8"))
    return found


def main() -> None:
    """Store the figures of all fits, a line each."""
    lines = [f"{json.dumps(one.name)}: {json.dumps(one.figures())}" for one in FITS]
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
