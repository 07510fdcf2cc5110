"""A small version of components for tests, made by hand: three rows of two numbers, of which one is halved."""

import numpy as np

from relevance_bayes.core.kernels import RationalQuadratic
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.encoding import EncodedNumber, InputEncoding
from relevance_bayes.tasks.components.report import ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.components.request import ComponentsPlan
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.components.training import NewComponentsVersion
from relevance_bayes.tasks.listing import Learned
from tests.small_tables import DATASET_ID

SCORES = np.linspace(-30.0, 10.0, 20)
"""Log densities of usual rows."""

KERNEL = RationalQuadratic(power=2.5)


def version_of_components(*, name: str = "rows") -> NewComponentsVersion:
    """A version that reads `x` and `z`; what is encoded is 2 x and z."""
    plan = ComponentsPlan(
        model=name,
        inputs=(InputColumn("x", "number"), InputColumn("z", "number")),
        ignored=(),
        kernel=KERNEL,
        widths=(2.0, 3.0),
        min_explained_variance=0.9,
        standardise=True,
        missing="error",
        seed=0,
    )
    rows = np.array([4, 0, 2], np.intp)
    centres = np.array([[0.0, 0.0], [2.0, 1.0], [-1.0, 4.0]])
    found = Components(
        KERNEL, InputMap(np.array([2.0, 3.0])), centres, rows, np.array([0.5, 1.0 / 3.0, 0.2]), 0.01, evidence=12.5
    )
    report = ComponentsReport(
        plan=plan,
        functions=3,
        rows=20,
        rows_drawn=20,
        rows_dropped=1,
        widths=(InputWidth("x", 2.0), InputWidth("z", 3.0)),
        explained_variance=0.95,
        noise_variance=found.noise_variance,
        variances=tuple(found.variances.tolist()),
        log_marginal_likelihood=found.evidence,
        dataset_id=DATASET_ID,
        dataset_digest="ab" * 32,
        seconds=0.5,
        software_version="0.1.0",
    )
    vectors = tuple(
        RelevanceVector(
            number=number,
            kind=KERNEL.type,
            row=int(row),
            inputs={"x": at[0] / 2.0, "z": at[1]},
            weight_mean=weight,
            weight_sd=0.0,
            alpha=1.0 / weight,
            gamma=0.9,
        )
        for number, (row, at, weight) in enumerate(
            zip(rows.tolist(), centres.tolist(), found.weights.tolist(), strict=True), 1
        )
    )
    numbers = tuple(
        EncodedNumber(column, "number", 0.0, scale, fill=None, indicator=False)
        for column, scale in (("x", 0.5), ("z", 1.0))
    )
    return Learned(report, vectors, ComponentsPredictor(InputEncoding(numbers), found, SCORES))
