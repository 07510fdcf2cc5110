"""API schemas of a version as a sum of Gaussians."""

from app.tasks.expansion import VersionExpansion
from relevance_bayes.types.functions import Expansion


def expansion_record(expansion: VersionExpansion) -> Expansion:
    """Return an expansion for a response."""
    return Expansion(
        inputs=expansion.inputs,
        centres=tuple(map(tuple, expansion.centres.tolist())),
        widths=tuple(map(tuple, expansion.widths.tolist())),
        weights=tuple(expansion.weights.tolist()),
        constant=expansion.constant,
    )
