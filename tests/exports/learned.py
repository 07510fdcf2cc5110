"""Components of rows, learned, as versions that can be exported: of each covariance, on raw columns of every kind."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array
from relevance_bayes.documents.reports import ExportedComponents
from relevance_bayes.records.reports import InputWidth
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import EncodedInput, InputEncoding, column_names, encode_inputs
from relevance_bayes.tasks.components.learning import components, usual_densities
from relevance_bayes.tasks.components.report import ComponentsModel, ComponentsPrediction, ComponentsPredictor
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.prediction import PredictOptions
from tests.exports.trained import COVARIANCES, EXPORTED_AT, MIXED, PLAIN, ROWS, block, input_column
from tests.small_components import version_of_components


def of_rows(
    kernel: Covariance,
    widths: tuple[float, ...],
    inputs: tuple[EncodedInput, ...] = MIXED,
    explained: float = 0.9,
) -> ExportedComponents:
    """Learned of a few rows."""
    encoding = InputEncoding(inputs)
    rows, _ = encode_inputs(encoding, block(inputs, ROWS, 1))
    *_, found = components(rows, kernel, InputMap(np.array(widths)), explained=explained)
    assert isinstance(found, Components)
    *_, usual = usual_densities(rows, found)
    assert not isinstance(usual, int)
    return exported(ComponentsPredictor(encoding, found, usual))


def exported(predictor: ComponentsPredictor) -> ExportedComponents:
    """A version with a minimal report."""
    encoding, found = predictor.encoding, predictor.components
    before, widths = version_of_components().report, tuple(found.input_map.widths.tolist())
    plan = replace(
        before.plan,
        inputs=tuple(map(input_column, encoding.inputs)),
        kernel=found.kernel,
        widths=None,
    )
    names = column_names(encoding) if len(widths) > 1 else (None,)
    report = replace(
        before,
        plan=plan,
        functions=len(found.rows),
        widths=tuple(map(InputWidth, names, widths)),
        noise_variance=found.noise_variance,
        variances=tuple(found.variances.tolist()),
        log_marginal_likelihood=found.evidence,
    )
    return ExportedComponents("rows", 1, EXPORTED_AT, report, predictor)


def _by_hand() -> ExportedComponents:
    made = version_of_components()
    return ExportedComponents("rows", 1, EXPORTED_AT, made.report, made.predictor)


def _one_usual_row() -> ExportedComponents:
    made = _by_hand()
    return replace(made, predictor=replace(made.predictor, log_densities=np.array([-20.0])))


LEARNED: dict[str, Callable[[], ExportedComponents]] = {
    **{kernel.type: partial(of_rows, kernel, (4.0,)) for kernel in COVARIANCES},
    "two inputs, each with a width": partial(of_rows, Gaussian(), (1.0, 0.7), PLAIN),
    "many components": partial(of_rows, Gaussian(), (1.5,), explained=0.95),
    "by hand": _by_hand,
    "one usual row": _one_usual_row,
}


@cache
def learned(name: str) -> ExportedComponents:
    """One of `LEARNED`, learned once."""
    return LEARNED[name]()


def component_outputs(made: ExportedComponents, rows: Block, first: int | None = None) -> dict[str, Array]:
    """The service's own answer for these rows, by the names that its columns have."""
    response = ComponentsModel(made.predictor).predict(rows, PredictOptions(components=first))
    assert isinstance(response, ComponentsPrediction)
    return {
        "components": response.components,
        "reconstruction_error": response.missed,
        "log_density": response.log_density,
        "novelty": response.novelty,
    }
