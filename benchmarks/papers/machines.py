"""A draw of one set, learned by the papers' machine, by our search of the same evidence, and by defaults."""

from typing import Literal, get_args

import numpy as np

from benchmarks.accuracy.ours import inputs, learned
from benchmarks.files import Split
from benchmarks.learning import classification, regression, vectors
from benchmarks.papers.sets import PaperSet
from benchmarks.repeats import Figures
from relevance_bayes.core.algorithms import ReEstimation, Sequential
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import members_of
from relevance_bayes.core.models.prediction import ClassPrediction, NumberPrediction, scores
from relevance_bayes.tables.encoding import user_mean

Machine = Literal["re-estimation", "sequential", "defaults"]
"""The independent prior without a price, one width by 5-fold cross-validation, the noise learned: by the algorithm that
the papers' tables were made with, and by the one that looks for functions; and what a job gets that names its data."""

MACHINES: tuple[Machine, ...] = get_args(Machine)


def figures(paper_set: PaperSet, machine: Machine, draw: int) -> Figures:
    """`error` in the set's measure, and `vectors`, functions that are centred on rows."""
    found = _learned(paper_set, machine, paper_set.split(draw))
    error = found["rmse"] ** 2 if paper_set.measure == "mse" else found[paper_set.measure]
    return {"error": error, "vectors": found["vectors"]}


def _learned(paper_set: PaperSet, machine: Machine, split: Split) -> Figures:
    match machine:
        case "re-estimation":
            return _by_the_papers(split, paper_set, ReEstimation())
        case "sequential":
            return _by_the_papers(split, paper_set, Sequential())
        case "defaults":
            return _by_defaults(split, "classification" if paper_set.measure == "error" else "regression")


def _by_the_papers(split: Split, paper_set: PaperSet, algorithm: ReEstimation | Sequential) -> Figures:
    if paper_set.measure == "error":
        spec = Spec(Bernoulli(), paper_set.basis, algorithm=algorithm)
        return classification(split, spec, scaled=paper_set.scaled)
    return regression(split, Spec(GaussianNoise(), paper_set.basis, algorithm=algorithm))


def _by_defaults(split: Split, task: Literal["regression", "classification"]) -> Figures:
    found = learned(split, task)
    kept = {"vectors": float(sum(map(vectors, members_of(found.model))))}
    prediction = found.predict(inputs(split.X_test))
    if isinstance(prediction, ClassPrediction):
        return scores(prediction, split.t_test) | kept
    assert isinstance(prediction, NumberPrediction)
    residual = split.t_test - user_mean(found.encoding.target, prediction.mean)
    return {"rmse": float(np.sqrt(np.mean(residual**2)))} | kept
