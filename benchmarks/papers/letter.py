"""One class against the rest, as the papers did with digits: a machine for each of the 26 of letter."""

from functools import partial
from statistics import median
from time import process_time

import numpy as np

from benchmarks.files import NotRun, Split
from benchmarks.generators import ACCURACY_SEED
from benchmarks.learning import Scaled, trained, vectors, width
from benchmarks.options import Options
from benchmarks.remembered import Remembered
from benchmarks.repeats import Figures
from benchmarks.report import Table
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import ClassPrediction, predict
from relevance_bayes.core.types import Array

ROWS = 5_000
QUICK_ROWS = 600
CLASSES = 26
HEADER = ("", "N", "classes", "error %", "vectors", "log loss", "width", "CPU s")
DIGITS = (
    ("USPS, SVM 2001", "7,291", "10", "4.4", "2540", "", "", ""),
    ("USPS, RVM 2001", "7,291", "10", "5.1", "316", "", "", ""),
)
NOTE = (
    "Letter replaces the digits, whose file is not in the folder of data (USPS: NOT RUN). Ours: a machine of two "
    "classes for each letter, independent weights without a price, sequential, each with its own width by 5-fold CV "
    "(shown: their median) and its own functions, whose sum is under vectors; the most probable letter is taken, "
    "and log loss is of probabilities that were made to sum to one. A tuned SVM and our defaults learn the same rows "
    "in `accuracy-many-classes`."
)


def one_against_rest(options: Options) -> Table:
    """5,000 rows of letter, 15,000 measured on."""
    title, rows = "One class against the rest", QUICK_ROWS if options.quick else ROWS
    try:
        split = options.data.letter(rows, np.random.default_rng((ACCURACY_SEED, 0)))
    except NotRun as reason:
        return Table(title, HEADER, DIGITS, (NOTE, f"letter: NOT RUN: {reason}."))
    found = Remembered(partial(_figures, split), ("letter", str(rows)), options.draws_file)(0)
    row = (
        "letter, ours",
        f"{rows:,}",
        str(CLASSES),
        f"{100.0 * found['error']:.2f}",
        f"{found['vectors']:.0f}",
        f"{found['log_loss']:.3f}",
        f"{found['width']:.2f}",
        f"{found['seconds']:.0f}",
    )
    return Table(title, HEADER, (*DIGITS, row), (NOTE,))


def _figures(split: Split, draw: int) -> Figures:
    assert draw == 0, "there is one division"
    inputs, start = Scaled.of(split.X), process_time()
    X, X_test = inputs(split.X), inputs(split.X_test)
    machines = [trained(X, np.asarray(split.t == letter, np.float64), Spec(Bernoulli())) for letter in range(CLASSES)]
    seconds = process_time() - start
    each = np.column_stack([_probability(found.model, X_test) for found in machines])
    probabilities, t = each / each.sum(axis=1, keepdims=True), split.t_test.astype(np.intp)
    return {
        "error": float(np.mean(probabilities.argmax(axis=1) != t)),
        "log_loss": float(-np.log(probabilities[np.arange(len(t)), t]).mean()),
        "vectors": float(sum(vectors(found.model) for found in machines)),
        "width": median(width(found) for found in machines),
        "seconds": seconds,
    }


def _probability(model: Model, X: Array) -> Array:
    """Of the machine's own letter, (N,)."""
    prediction = predict(model, X)
    assert isinstance(prediction, ClassPrediction)
    return prediction.probabilities[:, 1]
