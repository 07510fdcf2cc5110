"""The generated file of a version: for each kind of task a `predict` of its own."""

from app.exports.python_file import approximation, components, supervised
from app.exports.python_file.writing import Program
from relevance_bayes.documents.exported import (
    ExportedApproximation,
    ExportedComponents,
    ExportedSupervised,
    ExportedVersion,
)


def render(exported: ExportedVersion) -> bytes:
    """A file of Python; raises NotPositiveDefiniteError."""
    program = Program()
    return program.written(exported, _notes(exported), _body(program, exported)).encode()


def _notes(exported: ExportedVersion) -> str:
    match exported:
        case ExportedSupervised(predictor=predictor):
            return supervised.notes(predictor.encoding.target)
        case ExportedApproximation():
            return ""
        case ExportedComponents():
            return components.NOTES


def _body(program: Program, exported: ExportedVersion) -> str:
    match exported:
        case ExportedSupervised(predictor=predictor):
            return supervised.body(program, predictor)
        case ExportedApproximation(predictor=predictor):
            return approximation.body(program, predictor)
        case ExportedComponents(predictor=predictor):
            return components.body(program, predictor)
