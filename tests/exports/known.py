"""Known functions of few terms, as versions that can be exported."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedApproximation
from relevance_bayes.records.models import TermsError
from relevance_bayes.records.values import IgnoredColumn, InputColumn
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.report import ApproximationModel, ApproximationPredictor
from relevance_bayes.tasks.prediction import PredictOptions
from tests.exports.trained import EXPORTED_AT
from tests.small_approximation import version_of_a_term


def of_terms(
    names: tuple[str, ...], terms: int, *, constant: float = 0.0, density: bool = False
) -> ExportedApproximation:
    """So many terms, no two alike, over inputs of these names."""
    rng = np.random.default_rng(terms)
    made = version_of_a_term().report
    coefficients = rng.uniform(0.1, 2.0, terms) if density else rng.normal(size=terms)
    shape = (terms, len(names))
    expansion = KernelExpansion(rng.normal(size=shape), coefficients, rng.uniform(0.3, 3.0, shape), constant)
    plan = replace(
        made.plan,
        coefficients=None if density else "known",
        inputs=tuple(InputColumn(name, "number") for name in names),
        ignored=(IgnoredColumn("note", "it holds no numbers"),),
        widths=(0.3,) * len(names),
        constant=constant,
        max_functions=terms,
        density=density,
    )
    path = (TermsError(0, 1.0), TermsError(terms, 0.05))
    report = replace(made, plan=plan, functions=terms, rows=terms, path=path, integral_kept=expansion.mass)
    predictor = ApproximationPredictor(InputEncoding.plain(names), expansion)
    return ExportedApproximation("terms", 1, EXPORTED_AT, report, predictor)


KNOWN: dict[str, Callable[[], ExportedApproximation]] = {
    "one term": lambda: of_terms(("x",), 1),
    "a density": lambda: of_terms(("x", "y"), 5, density=True),
    "terms and a constant": lambda: of_terms(("value", "depth [m]", "value_3"), 40, constant=-0.75),
    "many inputs": lambda: of_terms(tuple(f"x{k}" for k in range(20)), 7),
}


def rows_of(made: ExportedApproximation, rows: int = 30) -> dict[str, NumberArray]:
    """Rows near the terms, and one far away."""
    rng = np.random.default_rng(5)
    names = [column.name for column in made.predictor.encoding.inputs]
    columns = rng.normal(size=(len(names), rows))
    columns[:, -1] = 1e70
    return {name: NumberArray(column) for name, column in zip(names, columns, strict=True)}


def values_of(made: ExportedApproximation, rows: Block) -> Array:
    """The service's own answer."""
    return ApproximationModel(made.predictor).predict(rows, PredictOptions()).value
