"""Traced formulas as functions of the generated file, and their calls."""

from collections.abc import Mapping, Sequence

from app.exports.python_file.tracing import statements
from app.exports.python_file.writing import Program
from relevance_bayes.core.tracing import Traced, parts_of


def called(
    program: Program,
    name: str,
    described: str,
    formulas: Sequence[Traced],
    parameters: Mapping[Traced, tuple[str, str]],
) -> str:
    """Return a call of a generated function of the parameters that its formulas have; it returns a tuple of several.

    `parameters` have the name of each in the function, and the argument of the call.
    """
    parts = parts_of(formulas)
    needed = [reported for traced, reported in parameters.items() if traced in parts]
    names = {traced: own for traced, (own, _) in parameters.items()}
    shared, whole = statements(formulas, names, lambda numbers: program.constant("NUMBERS", numbers))
    body = "\n".join(f"    {line}" for line in [f'"""{described}"""', *shared, f"return {', '.join(whole)}"])
    returned = "Array" if len(formulas) == 1 else "tuple[Array, ...]"
    taken = program.function(name, f"({', '.join(f'{own}: Array' for own, _ in needed)}) -> {returned}", body)
    return f"{taken}({', '.join(given for _, given in needed)})"
