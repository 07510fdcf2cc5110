"""What is said of inputs, said of columns of X: widths given for each, and groups of them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from app.domain.encoding.columns import InputEncoding
from app.sparse_bayes.basis import Basis, Group, KernelBasis, Single
from app.sparse_bayes.scales import FixedWidth
from app.sparse_bayes.spec import Spec


def in_columns(spec: Spec, encoding: InputEncoding) -> Spec:
    """The spec in which a list of widths has one for each column of X, and a group the numbers of its columns.

    The columns of a category, and the one that says where a gap was, go with the input they come from.
    """
    return replace(spec, basis=tuple(_encoded(basis, encoding) for basis in spec.basis))


def _encoded(basis: Basis, encoding: InputEncoding) -> Basis:
    if not isinstance(basis, Group):
        return _widened(basis, [column.width for column in encoding.inputs])
    starts = list(accumulate((column.width for column in encoding.inputs), initial=0))
    widths = [encoding.inputs[place].width for place in basis.inputs]
    columns = [starts[place] + k for place, width in zip(basis.inputs, widths, strict=True) for k in range(width)]
    return Group(tuple(columns), _widened(basis.of, widths))


def _widened(basis: Single, columns: Sequence[int]) -> Single:
    """With each of a list of widths for as many columns as its input has."""
    match basis:
        case KernelBasis(width=FixedWidth(value=tuple() as each)):
            widths = tuple(width for width, many in zip(each, columns, strict=True) for _ in range(many))
            return replace(basis, width=FixedWidth(widths))
        case _:
            return basis
