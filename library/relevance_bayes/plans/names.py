"""Names of models: validation, and defaults from datasets' names."""

import re
import unicodedata

from relevance_bayes.tables.encoding.raw import quoted
from relevance_bayes.types.errors import Fault

MODEL_NAME = re.compile(r"[a-z][a-z0-9._-]{0,62}")


def default_model_name(dataset: str) -> str:
    """Return a model's name from its dataset's without a suffix, `model` where no letter is valid."""
    plain = unicodedata.normalize("NFKD", dataset).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"\.[a-z]{2,8}$", "", plain)
    name = re.sub(r"[^a-z0-9._]+", "-", stem)
    return re.sub(r"^[^a-z]+", "", name)[:63].rstrip("-._") or "model"


def name_faults(name: str | None) -> list[Fault]:
    """Return the faults of a requested name."""
    if name is None or MODEL_NAME.fullmatch(name):
        return []
    detail = "Expected a lower-case letter, then at most 62 lower-case letters, digits, dots, dashes and underscores"
    return [Fault(f"{detail}; got {quoted(name)}.", "/model")]
