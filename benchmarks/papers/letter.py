"""One class against the rest, as the papers did with digits: on the 26 of letter."""

from time import process_time

import numpy as np

from app.sparse_bayes.likelihoods import OneAgainstRest
from app.sparse_bayes.prediction import ClassPrediction, predict, scores
from app.sparse_bayes.spec import Spec
from benchmarks.files import NotRun
from benchmarks.generators import ACCURACY_SEED
from benchmarks.learning import Scaled, trained, vectors, width
from benchmarks.options import Options
from benchmarks.report import Table

ROWS = 5_000
QUICK_ROWS = 600
HEADER = ("", "N", "classes", "error %", "vectors", "log loss", "width", "CPU s")
DIGITS = (
    ("USPS, SVM 2001", "7,291", "10", "4.4", "2540", "", "", ""),
    ("USPS, RVM 2001", "7,291", "10", "5.1", "316", "", "", ""),
)
NOTE = (
    "Letter stands for the digits, whose file is not in the folder of data (USPS: NOT RUN). Ours: one_against_rest, "
    "independent weights without a price, one width by 5-fold CV, sequential; the classes share their functions, "
    "where the papers' ten machines kept their own. A tuned SVM and our defaults learn the same rows in "
    "`accuracy-many-classes`."
)


def one_against_rest(options: Options) -> Table:
    """5,000 rows of letter, 15,000 measured on."""
    title = "One class against the rest"
    try:
        split = options.data.letter(QUICK_ROWS if options.quick else ROWS, np.random.default_rng((ACCURACY_SEED, 0)))
    except NotRun as reason:
        return Table(title, HEADER, DIGITS, (NOTE, f"letter: NOT RUN: {reason}."))
    inputs, start = Scaled.of(split.X), process_time()
    found = trained(inputs(split.X), split.t, Spec(OneAgainstRest(classes=26)))
    seconds = process_time() - start
    prediction = predict(found.model, inputs(split.X_test))
    assert isinstance(prediction, ClassPrediction)
    scored = scores(prediction, split.t_test)
    row = (
        "letter, ours",
        f"{len(split.t):,}",
        "26",
        f"{100.0 * scored['error']:.2f}",
        str(vectors(found.model)),
        f"{scored['log_loss']:.3f}",
        f"{width(found):.2f}",
        f"{seconds:.0f}",
    )
    return Table(title, HEADER, (*DIGITS, row), (NOTE,))
