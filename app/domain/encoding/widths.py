"""Widths given for each input, for each column of X."""

from dataclasses import replace

from app.domain.encoding.columns import Encoding
from app.sparse_bayes.basis import Basis, KernelBasis
from app.sparse_bayes.scales import FixedWidth
from app.sparse_bayes.spec import Spec


def encoded_widths(spec: Spec, encoding: Encoding) -> Spec:
    """The spec in which a list of widths has one for each column of X.

    The columns of a category, and the one that says where a gap was, have the width of the input they come from.
    """
    return replace(spec, basis=tuple(_encoded(basis, encoding) for basis in spec.basis))


def _encoded(basis: Basis, encoding: Encoding) -> Basis:
    match basis:
        case KernelBasis(width=FixedWidth(value=tuple() as each)):
            placed = zip(each, encoding.inputs, strict=True)
            widths = tuple(width for width, column in placed for _ in range(column.width))
            return replace(basis, width=FixedWidth(widths))
        case _:
            return basis
