"""The API's form of the rule that decides between classes."""

from collections.abc import Mapping

from relevance_bayes.client.responses import Json
from relevance_bayes.types.values import Label


def listed(priors: Mapping[Label, float] | None) -> Json:
    """As the API has them: a JSON object would make texts of all labels."""
    return None if priors is None else [{"label": label, "prior": prior} for label, prior in priors.items()]
