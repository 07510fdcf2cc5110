"""The generated file of a version, with a `predict` for its kind of task."""

from app.exports.python_file import approximation, components, supervised
from app.exports.python_file.writing import Program
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)


def render(exported: ExportedVersion) -> bytes:
    """Return a file of Python; raises NotPositiveDefiniteError."""
    program = Program()
    notes, body = _written(program, exported)
    return program.written(exported, notes, body).encode()


def _written(program: Program, exported: ExportedVersion) -> tuple[str, str]:
    """Return notes for callers, and the source of `predict`."""
    match exported:
        case ExportedSupervised(predictor=predictor):
            return supervised.notes(predictor.encoding.target), supervised.body(program, predictor)
        case ExportedApproximation(predictor=predictor):
            return "", approximation.body(program, predictor)
        case ExportedComponents(predictor=predictor):
            return components.NOTES, components.body(program, predictor)
