"""The generated file of a version, with a `predict` for its kind of task."""

from app.exports.python_file.functions import kernel_expression
from app.exports.python_file.supervised import supervised, target_notes
from app.exports.python_file.writing import Program, predict
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor

NOTES = "`components` is the number of first components in the result, and for the `reconstruction_error`.\n"


def render(exported: ExportedVersion) -> bytes:
    """Return a file of Python; raises NotPositiveDefiniteError."""
    program = Program()
    notes, body = _written(program, exported)
    return program.written(exported, notes, body).encode()


def _written(program: Program, exported: ExportedVersion) -> tuple[str, str]:
    """Return notes for callers, and the source of `predict`."""
    match exported:
        case ExportedSupervised(predictor=predictor):
            return target_notes(predictor.encoding.target), supervised(program, predictor)
        case ExportedApproximation(predictor=predictor):
            return "", _approximation(program, predictor)
        case ExportedComponents(predictor=predictor):
            return NOTES, _components(program, predictor)


def _approximation(program: Program, predictor: ApproximationPredictor) -> str:
    """Return `predict` of an approximation: its terms and their coefficients."""
    terms = predictor.expansion
    given = f"{program.constant('CENTRES', terms.centres)}, {program.constant('WIDTHS', terms.widths)}"
    value = f"gaussians(X, {given}) @ {program.constant('COEFFICIENTS', terms.coefficients)} + {terms.constant!r}"
    return predict(
        [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            "X = np.where(sound[:, None], X, 0.0)",
            f'reported = {{"value": {value}}}',
            "return sound_rows(reported, sound)",
        ]
    )


def _components(program: Program, predictor: ComponentsPredictor) -> str:
    """Return `predict` of components: principal components and novelty."""
    found = predictor.components
    functions = KernelFunctions(found.kernel, found.input_map, found.centres, found.rows)
    images = kernel_expression(program, functions, "X", "CENTRES")
    usual = program.constant("USUAL", predictor.log_densities)
    spread = f"{program.constant('VARIANCES', found.variances)}, {found.noise_variance!r}"
    return predict(
        [
            "X = encode(columns)",
            "sound = np.isfinite(X).all(axis=1)",
            "X = np.where(sound[:, None], X, 0.0)",
            f"projected = {images} @ {program.constant('AXES', found.axes)}",
            f"density = log_densities(projected, {spread})",
            "first = projected[:, :components]",
            'reported = {"components": first, "reconstruction_error": missed(first)}',
            f'reported |= {{"log_density": density, "novelty": share_above(density, {usual})}}',
            "return sound_rows(reported, sound)",
        ],
        beside=f", components: int = {COMPONENTS_REPORTED}",
    )
