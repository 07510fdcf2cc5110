"""A version as a sum of Gaussians, as it goes out."""

from app.tasks.expansion import VersionExpansion
from relevance_bayes.types.functions import Expansion


def expansion_record(expansion: VersionExpansion) -> Expansion:
    """A function as it goes out."""
    return Expansion(
        inputs=expansion.inputs,
        centres=tuple(map(tuple, expansion.centres.tolist())),
        widths=tuple(map(tuple, expansion.widths.tolist())),
        weights=tuple(expansion.weights.tolist()),
        constant=expansion.constant,
    )
