"""Ripley's mixture drawn anew: two classes, the same Gaussian width for all."""

import numpy as np

from benchmarks.accuracy.measuring import SKLEARN
from benchmarks.files import Split
from benchmarks.generators import ripley_best, ripley_split
from benchmarks.learning import RAW_HALF, vectors
from benchmarks.speed.racing import Entrant, Fitted, Race, wrong
from relevance_bayes.core.basis import Bias
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import latent
from relevance_bayes.core.types import Array

GAMMA = 0.5**-2


def drawn(rows: int, draw: int) -> Split:
    """Measured on 10,000 rows more."""
    return ripley_split(draw, rows=rows)


def bayes_error(draw: int) -> float:
    """The share of a draw's new rows, in percent, on which the best rule there is errs."""
    split = drawn(MIXTURE.sizes[0], draw)
    return wrong(ripley_best(split.X_test), split.t_test)


def relevance(split: Split) -> Fitted:
    """The sequential algorithm."""
    model = fit(split.X, split.t, Spec(Bernoulli(), (RAW_HALF, Bias())))

    def predicted(X: Array) -> Array:
        return np.asarray(latent(model, X).mean > 0.0, np.float64)

    return Fitted(vectors(model), predicted)


def libsvm(split: Split) -> Fitted:
    """One SVC fit of libsvm, C = 1, no probabilities."""
    from sklearn.svm import SVC

    model = SVC(kernel="rbf", gamma=GAMMA, C=1.0).fit(split.X, split.t)
    return Fitted(len(model.support_), lambda X: np.asarray(model.predict(X), np.float64))


MIXTURE = Race(
    "mixture",
    drawn,
    wrong,
    (Entrant("ours", relevance), Entrant("libsvm SVC", libsvm, SKLEARN)),
    (1_000, 2_000, 8_000),
    (500, 1_000),
)
