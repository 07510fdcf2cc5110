"""`predict` of components: principal components and novelty."""

from app.exports.python_file.functions import kernel_expression
from app.exports.python_file.writing import Program, predict
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.documents.models import COMPONENTS_REPORTED, ComponentsPredictor

NOTES = "`components` is the number of first components in the result, and for the `reconstruction_error`.\n"


def body(program: Program, predictor: ComponentsPredictor) -> str:
    """Return the source of `predict`."""
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
