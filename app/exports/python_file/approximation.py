"""`predict` of an approximation: its terms and their coefficients."""

from app.exports.python_file.writing import Program, predict
from relevance_bayes.documents.models import ApproximationPredictor


def body(program: Program, predictor: ApproximationPredictor) -> str:
    """Return the source of `predict`."""
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
