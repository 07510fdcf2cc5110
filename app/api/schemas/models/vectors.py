"""The functions that a version keeps, as they go out."""

from relevance_bayes.documents.models import RelevanceVector
from relevance_bayes.types import functions as records


def vector_record(vector: RelevanceVector) -> records.RelevanceVector:
    """A function as it goes out."""
    return records.RelevanceVector(
        number=vector.number,
        kind=vector.kind,
        row=vector.row,
        inputs=None if vector.inputs is None else dict(vector.inputs),
        input=vector.input,
        shape=vector.shape,
        phase=vector.phase,
        optimised=vector.optimised,
        weight_mean=vector.weight_mean,
        weight_means=vector.weight_means,
        weight_sd=vector.weight_sd,
        alpha=vector.alpha,
        gamma=vector.gamma,
        member=vector.member,
        function=vector.function,
    )
