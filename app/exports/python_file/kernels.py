"""Kernels as functions of the generated file: their formulas, traced."""

import inspect
from textwrap import indent

from app.exports.python_file.tracing import statements
from app.exports.python_file.writing import Program
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import TRACING, Traced


def kernel_function(program: Program, kernel: Kernel) -> str:
    """Return the name of a function of U (N, d) and Z (M, d) that returns k (N, M)."""
    described = inspect.cleandoc(kernel.__doc__ or "").split("\n\n")[0]
    body = "\n".join([f'"""{described}"""', *_lines(kernel)])
    return program.function(kernel.type, "(U: Array, Z: Array) -> Array", indent(body, " " * 4))


def _lines(kernel: Kernel) -> list[str]:
    one, other = Traced("parameter"), Traced("parameter")
    match kernel:
        case Radial():
            return ["s = squares(U, Z)", *_returned(kernel.of_squares(TRACING, one), one, "s")]
        case InnerProduct():
            return ["p = U @ Z.T", *_returned(kernel.of_products(TRACING, one), one, "p")]
        case ByInput():
            start, sign = ("zeros", "+=") if kernel.combination == "sum" else ("ones", "*=")
            shared, (term,) = statements([kernel.term(TRACING, one, other)], {one: "u", other: "z"})
            return [
                f"total = np.{start}((len(U), len(Z)))",
                "for u, z in zip(U.T[:, :, None], Z.T):",
                *(f"    {line}" for line in [*shared, f"total {sign} {term}"]),
                *_returned(kernel.of_terms(TRACING, one), one, "total"),
            ]


def _returned(formula: Traced, parameter: Traced, name: str) -> list[str]:
    shared, (whole,) = statements([formula], {parameter: name})
    return [*shared, f"return {whole}"]
