"""The API's form of class priors."""

from collections.abc import Mapping

from relevance_bayes.client.responses import Json
from relevance_bayes.types.values import Label


def listed(priors: Mapping[Label, float] | None) -> Json:
    """Return priors as a list: a JSON object would make all labels strings."""
    return None if priors is None else [{"label": label, "prior": prior} for label, prior in priors.items()]
