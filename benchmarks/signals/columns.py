"""The choice of columns: five that matter among a hundred, and among a thousand."""

from functools import partial
from time import process_time
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.special import ndtr

from benchmarks.accuracy.scoring import TWO_SIDED_95
from benchmarks.files import Split
from benchmarks.generators import COLUMN_NOISE, columns_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table
from benchmarks.signals.pursuits import lasso_by_folds
from relevance_bayes.core.basis import Bias, InputFunctions, Inputs
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array, Indices

RELEVANT = 5

MAX_DRAWS = {100: 20, 1_000: 10}

ENGINES = ("ours", "ours, unpriced", "lasso by CV", "ARDRegression")

NOTES = (
    (
        "Inputs N(0, 1), five of them times 1 or -1, noise of sd 0.5, 100 rows. RMSE to the function at 1,000 fresh "
        "rows; inside: how probably a noisy target there lies in the 95 % interval. Least squares of the five "
        "columns would have an RMSE of about .12. Ours: the inputs as functions and a bias. ARDRegression and "
        "LassoCV: scikit-learn's defaults, 5 folds."
    ),
)


def columns(options: Options) -> list[Table]:
    """Both numbers of columns in one table."""
    rows = []
    for inputs, maximum in MAX_DRAWS.items():
        draws = min(maximum, options.accuracy_draws)
        found = repeated(partial(_figures, inputs), draws, processes=options.processes)
        rows += [(f"{inputs:,}", str(draws), engine, *_cells(found, engine)) for engine in ENGINES]
    header = ("columns", "draws", "engine", "RMSE", "inside 95 %", "kept", "of the 5", "CPU s")
    return [Table("Five relevant columns of many, N = 100", header, tuple(rows), NOTES)]


def _cells(found: list[Figures], engine: str) -> tuple[str, ...]:
    inside = f"{engine} inside"
    return (
        with_error(found, f"{engine} rmse"),
        f"{mean(found, inside):.3f}" if inside in found[0] else "–",
        f"{mean(found, f'{engine} kept'):.1f}",
        f"{mean(found, f'{engine} right'):.1f}",
        f"{mean(found, f'{engine} seconds'):.2f}",
    )


def _figures(inputs: int, draw: int) -> Figures:
    split, figures = columns_split(inputs, draw), Figures()
    for name, price in (("ours", True), ("ours, unpriced", False)):
        figures |= _ours(name, split, price=price)
    found = lasso_by_folds(split.X, split.t)
    chosen = np.flatnonzero(found.weights)
    figures |= _scored("lasso by CV", split, found(split.X_test), None, chosen, found.seconds)
    return figures | _precisions(split)


def _ours(name: str, split: Split, *, price: bool) -> Figures:
    start = process_time()
    model = fit(split.X, split.t, Spec(GaussianNoise(), (Inputs(), Bias()), Independent(price=price)))
    seconds = process_time() - start
    kept = [functions.columns for functions in model.functions if isinstance(functions, InputFunctions)]
    predicted = predict(model, split.X_test)
    assert isinstance(predicted, RealPrediction)
    chosen = np.concatenate([np.empty(0, np.intp), *kept])
    return _scored(name, split, predicted.mean, np.sqrt(predicted.variance), chosen, seconds)


def _precisions(split: Split) -> Figures:
    from sklearn.linear_model import ARDRegression

    start = process_time()
    with catch_warnings():
        simplefilter("ignore")  # that it has not converged
        found = ARDRegression().fit(split.X, split.t)
    seconds = process_time() - start
    mean, sd = (np.asarray(values, np.float64) for values in found.predict(split.X_test, return_std=True))
    return _scored("ARDRegression", split, mean, sd, np.flatnonzero(found.coef_), seconds)


def _scored(name: str, split: Split, mean: Array, sd: Array | None, chosen: Indices, seconds: float) -> Figures:
    figures = {
        f"{name} rmse": float(np.sqrt(np.mean((mean - split.t_test) ** 2))),
        f"{name} kept": float(len(chosen)),
        f"{name} right": float(np.count_nonzero(chosen < RELEVANT)),
        f"{name} seconds": seconds,
    }
    if sd is not None:
        lower, upper = (ndtr((mean - split.t_test + side * TWO_SIDED_95 * sd) / COLUMN_NOISE) for side in (-1.0, 1.0))
        figures[f"{name} inside"] = float(np.mean(upper - lower))
    return figures
