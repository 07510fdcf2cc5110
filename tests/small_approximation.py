"""A small approximation for tests, made by hand: one term that stands for two."""

import numpy as np

from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.approximation.request import ApproximationPlan
from relevance_bayes.tasks.approximation.training import NewApproximationVersion
from relevance_bayes.tasks.listing import Learned
from tests.small_tables import DATASET_ID


def version_of_a_term(*, name: str = "terms") -> NewApproximationVersion:
    """2 exp(-(x - 1)^2), of coefficients that a column `known` held."""
    plan = ApproximationPlan(
        model=name,
        coefficients="known",
        inputs=(InputColumn("x", "number"),),
        ignored=(),
        widths=(1.0,),
        constant=0.0,
        tolerance=0.1,
        max_functions=None,
        density=False,
    )
    expansion = KernelExpansion.of_width(1.0, np.array([[1.0]]), np.array([2.0]))
    report = ApproximationReport(
        plan=plan,
        functions=1,
        rows=2,
        error=0.05,
        path=(),
        integral=expansion.mass,
        integral_kept=expansion.mass,
        integral_negative=0.0,
        dataset_id=DATASET_ID,
        dataset_digest="ab" * 32,
        seconds=0.1,
        software_version="0.1.0",
    )
    return Learned(report, (), ApproximationPredictor(InputEncoding.plain(["x"]), expansion))
