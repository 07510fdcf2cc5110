"""The spec of a fit in encoded units: widths and groups by columns of X, noise and hyperpriors in units of t."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from relevance_bayes.core.basis import Basis, Group, KernelBasis, Single
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.scales import FixedWidth
from relevance_bayes.core.spec import Spec
from relevance_bayes.tables.encoding.columns import EncodedTarget, InputEncoding


def in_columns(spec: Spec, encoding: InputEncoding) -> Spec:
    """Return the spec with a width for each column of X where a list is given, and groups of column numbers.

    The columns of a category, and the indicator of missing values, belong to the input they come from.
    """
    return replace(spec, basis=tuple(_encoded(basis, encoding) for basis in spec.basis))


def in_target_units(spec: Spec, target: EncodedTarget) -> Spec:
    """Return the spec with everything in the target's unit in that of t, u = `target.latent_unit`.

    A known noise sd becomes noise_sd/u. The rates of the Gamma hyperpriors are those of precisions, which are in 1/u^2:
    b and d become b/u^2 and d/u^2; the shapes a and c have no unit.
    """
    likelihood, prior, unit = spec.likelihood, spec.prior, target.latent_unit
    if isinstance(likelihood, GaussianNoise) and not isinstance(likelihood.noise_sd, str):
        likelihood = replace(likelihood, noise_sd=likelihood.noise_sd / unit)
    if isinstance(prior, Independent):
        prior = replace(prior, b=prior.b / unit / unit, d=prior.d / unit / unit)
    return replace(spec, likelihood=likelihood, prior=prior)


def _encoded(basis: Basis, encoding: InputEncoding) -> Basis:
    if not isinstance(basis, Group):
        return _widened(basis, [column.width for column in encoding.inputs])
    starts = list(accumulate((column.width for column in encoding.inputs), initial=0))
    widths = [encoding.inputs[place].width for place in basis.inputs]
    columns = [starts[place] + k for place, width in zip(basis.inputs, widths, strict=True) for k in range(width)]
    return Group(tuple(columns), _widened(basis.of, widths))


def _widened(basis: Single, columns: Sequence[int]) -> Single:
    """Return the dictionary with each width of a list repeated for the columns of its input."""
    match basis:
        case KernelBasis(width=FixedWidth(value=tuple() as each)):
            widths = tuple(width for width, many in zip(each, columns, strict=True) for _ in range(many))
            return replace(basis, width=FixedWidth(widths))
        case _:
            return basis
