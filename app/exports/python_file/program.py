"""The generated file of a version: for each kind of task a `predict` of its own."""

from app.domain.exports import ExportedApproximation, ExportedSupervised, ExportedVersion
from app.exports.python_file import approximation, supervised
from app.exports.python_file.writing import Program


def render(exported: ExportedVersion) -> bytes:
    """A file of Python; raises NotPositiveDefiniteError."""
    program = Program()
    return program.written(exported, _notes(exported), _body(program, exported)).encode()


def _notes(exported: ExportedVersion) -> str:
    return supervised.notes(exported.predictor.encoding.target) if isinstance(exported, ExportedSupervised) else ""


def _body(program: Program, exported: ExportedVersion) -> str:
    match exported:
        case ExportedSupervised(predictor=predictor):
            return supervised.body(program, predictor)
        case ExportedApproximation(predictor=predictor):
            return approximation.body(program, predictor)
