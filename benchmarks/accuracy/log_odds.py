"""The papers' picture of probabilities: log odds of two overlapping uniform classes [TIPPING2001, D.2].

1,000 rows, and kernels of width .1 for both. The support vector machine's values are scaled by Platt's sigmoid, which
is what its users have.
"""

from pathlib import Path

import numpy as np

from benchmarks.accuracy.canvas import BLUE, GREEN, INK, MUTED, ORANGE, canvas
from benchmarks.accuracy.ours import inputs, learned
from benchmarks.files import Split
from benchmarks.generators import uniform_classes
from benchmarks.learning import trained, vectors
from benchmarks.support_vectors import COSTS, FOLDS
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.likelihoods.base import Prediction
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import alone
from relevance_bayes.core.models.prediction import ClassPrediction, predict
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array

WIDTH = 0.1
SHOWN = 6.0
"""Log odds above this and below its negative are not shown: the true ones are infinite outside the overlap."""


def draw_log_odds() -> Path:
    """The true log odds, those of two kinds of our models, and a support vector machine's by Platt's sigmoid."""
    x, t = uniform_classes(0)
    at = np.linspace(-0.1, 1.6, 681)
    papers = trained(x, t, Spec(Bernoulli(), (KernelBasis(width=FixedWidth(WIDTH)), Bias()), Independent())).model
    ours = learned(Split(x, t, at[:, None], np.zeros(len(at))), "classification")
    platt, support = _platt(x, t, at)
    drawing = canvas((9.6, 5.6), "Two classes, uniform on [0, 1] and on [½, 1½]: the log odds of the first")
    (axes,) = drawing.panels
    axes.axvspan(0.5, 1.0, color=MUTED, alpha=0.12, lw=0)
    axes.plot([0.5, 0.5, 1.0, 1.0], [SHOWN, 0.0, 0.0, -SHOWN], color=INK, lw=1.4, ls=(0, (5, 3)), label="true log odds")
    axes.plot(
        at, _latent(predict(papers, at[:, None])), color=BLUE, lw=2.2, label=f"RVM, {vectors(papers)} relevance vectors"
    )
    label = f"relevance-bayes, default, {vectors(alone(ours.model))} vectors"
    axes.plot(at, _latent(ours.predict(inputs(at[:, None]))), color=GREEN, lw=2.2, label=label)
    axes.plot(at, platt, color=ORANGE, lw=2.2, label=f"SVM, {support} support vectors, Platt's sigmoid")
    axes.plot(x[t == 1.0, 0], np.full(int(t.sum()), SHOWN - 0.1), "|", color=INK, ms=6, alpha=0.25)
    axes.plot(x[t == 0.0, 0], np.full(int((1 - t).sum()), 0.1 - SHOWN), "|", color=INK, ms=6, alpha=0.25)
    axes.set(xlim=(at[0], at[-1]), ylim=(-SHOWN, SHOWN), xlabel="x", ylabel="log odds of the class on [0, 1]")
    axes.set_title(
        "in the overlap, shaded, either class is equally probable; marks are the rows", loc="left", fontsize=10
    )
    return drawing.save("log-odds")


def _latent(prediction: Prediction) -> Array:
    assert isinstance(prediction, ClassPrediction)
    return prediction.latent_mean


def _platt(x: Array, t: Array, at: Array) -> tuple[Array, int]:
    """Log odds of a machine of the same kernel, C by cross-validation, and how many support vectors it has."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    search = GridSearchCV(SVC(gamma=1.0 / WIDTH**2), {"C": COSTS}, cv=FOLDS).fit(x, t)
    best = search.best_estimator_
    platt = CalibratedClassifierCV(SVC(**best.get_params()), cv=FOLDS, ensemble=False).fit(x, t)
    probabilities = np.asarray(platt.predict_proba(at[:, None]), np.float64)
    return np.log(probabilities[:, 1]) - np.log(probabilities[:, 0]), len(best.support_)
