"""One training of a model for each class, each with functions and scales of its own."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.errors import NotPositiveDefiniteError, OneClassError
from relevance_bayes.core.likelihoods import BernoulliPerClass
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass, without_functions
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.selection.rows import Rows, Step
from relevance_bayes.core.spec import Spec

ClassFit = Callable[[Rows, Spec], Generator[Step, None, tuple[Model, Spec]]]
"""A fit of rows whose targets are 0 and 1: the model, and the spec as run."""


@dataclass(frozen=True, eq=False)
class FittedPerClass:
    """The model, and the specs (K,) of its members, with the widths found."""

    model: PerClass
    specs: tuple[Spec, ...]


def fitted_per_class(
    rows: Rows, spec: Spec, likelihood: BernoulliPerClass, fit: ClassFit
) -> Generator[Step, None, FittedPerClass]:
    """Fit each of K classes against all others by `fit`, with the choices of `spec`, one class after the other.

    A class that has no row, or all, and one whose matrices are not positive definite in floating point, has a constant
    probability: see `without_functions`. Raises DataError, OneClassError where all rows are of one
    class.
    """
    check_rows(rows.X, rows.t, rows.noise_sd)
    likelihood.check(rows.t)
    members, specs = list[Model](), list[Spec]()
    single = replace(spec, likelihood=likelihood.member)
    for number in range(likelihood.latents):
        yield Step("classes", number, likelihood.latents, "models")
        of_class = rows.with_targets((rows.t == number).astype(np.float64))
        try:
            model, run = yield from fit(of_class, single)
        except (OneClassError, NotPositiveDefiniteError):
            model, run = without_functions(rows.X.shape[1], of_class.t, candidates=len(rows.t)), single
        members.append(model)
        specs.append(run)
    yield Step("classes", likelihood.latents, likelihood.latents, "models")
    return FittedPerClass(PerClass(tuple(members), likelihood), tuple(specs))
