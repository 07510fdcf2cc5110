"""Outliers and warnings of a fit."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.student_t import HeavyTailedPrediction
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, alone, likelihood_of, members_of
from relevance_bayes.core.prediction import predict
from relevance_bayes.core.priors.gaussian_process import JITTER
from relevance_bayes.core.selection import Compared, Trained
from relevance_bayes.tasks.supervised.materialise import Materialised
from relevance_bayes.tasks.supervised.outlying_inputs import OutlyingInput
from relevance_bayes.types.reports import Outlier, TrainingWarning


def warnings(trained: Trained, made: Materialised) -> tuple[TrainingWarning, ...]:
    """Return the warnings about rows that were left out, then those about fits."""
    found = [TrainingWarning("outlying_input", _of_outlying(one)) for one in made.outlying]
    if made.copies:
        found.append(TrainingWarning("duplicates", _of_copies(made.copies)))
    lost = [one for one in trained.compared if not one.computable]
    found += [TrainingWarning("numerical_failure", _of_lost(one)) for one in lost]
    return (*found, *(TrainingWarning("jitter", detail) for detail in _of_jitter(members_of(trained.learned))))


def _of_outlying(one: OutlyingInput) -> str:
    numbers = ", ".join(map(str, one.rows))
    more = f" and {one.count - len(one.rows):,} more" if one.count > len(one.rows) else ""
    rows = f"row {numbers} is" if one.count == 1 else f"rows {numbers}{more} are"
    ordinary = f"{one.limits.minimum:.4g} to {one.limits.maximum:.4g}"
    return f"`{one.name}` lies far outside its other values ({ordinary}): {rows} left out."


def _of_copies(copies: int) -> str:
    counts = "1 row repeats another" if copies == 1 else f"{copies:,} rows repeat others"
    return f"{counts} in inputs and target: each counts once."


def _of_lost(one: Compared) -> str:
    kernels = [basis.kernel.type for basis in one.spec.basis if isinstance(basis, KernelBasis)]
    name = " ".join([*kernels[:1], one.spec.prior.type, "with", one.spec.likelihood.type, "noise"]).replace("_", " ")
    return f"An alternative could not be computed and was left out: {name} ({one.reason})."


def _of_jitter(models: tuple[Model, ...]) -> Iterator[str]:
    for model in models:
        if model.jitter is not None and model.jitter > 1.5 * JITTER:
            yield (
                f"{model.jitter:.0e} was added to the diagonal of a kernel matrix, where {JITTER:.0e} is usual, to be"
                " computed with: its functions are nearly the same, since inputs or rows repeat one another."
            )


ATYPICAL = 0.25
"""The weight, relative to an ordinary row, below which a row is an outlier: 4 scales away at 4 degrees of freedom."""

MAX_OUTLIERS = 100


def outliers(model: LearnedModel, made: Materialised) -> tuple[Outlier, ...]:
    """Return the outliers among the training rows, the least typical first; none without heavy tails."""
    likelihood = likelihood_of(model)
    if not isinstance(likelihood, StudentT):
        return ()
    learned = made.rows()[: made.training]
    prediction = predict(alone(model), learned[:, : made.inputs])
    assert isinstance(prediction, HeavyTailedPrediction)
    typicality = likelihood.typicality(prediction, np.array(learned[:, made.inputs]))
    minimum = np.argsort(typicality, kind="stable")[:MAX_OUTLIERS]
    return tuple(
        Outlier(int(number), float(value))
        for number, value in zip(learned[minimum, -1].tolist(), typicality[minimum].tolist(), strict=True)
        if value < ATYPICAL
    )
