"""Former names of members of stored and exported documents.

JSON to JSON, and frozen: these tables convert documents of format versions 1 and 2, whatever later formats are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Members: TypeAlias = dict[str, Json]
Names: TypeAlias = Mapping[str, str]

NONE: Names = MappingProxyType({})


@dataclass(frozen=True)
class Renaming:
    """Old names of `members`, and of their `values` by the old member, with the new ones.

    It applies to objects that have the members `beside`, where given with this value. Where it is `exact` they have no
    others, and all texts that `values` are of are among these.
    """

    beside: Mapping[str, str | None]
    members: Names = field(default_factory=dict)
    values: Mapping[str, Names] = field(default_factory=dict)
    exact: bool = False

    def applied(self, value: Members) -> Members:
        """Return the object with the new names if it is of this kind."""
        if not self._is_of(value):
            return value
        return {self.members.get(name, name): self._value(name, one) for name, one in value.items()}

    def _is_of(self, value: Members) -> bool:
        if any(name not in value or text not in (None, value[name]) for name, text in self.beside.items()):
            return False
        known = self.members.keys() | self.values.keys()
        if self.exact and any(value.get(name) not in texts for name, texts in self.values.items()):
            return False
        return bool(value.keys() & known) and not (self.exact and value.keys() - self.beside.keys() - known)

    def _value(self, name: str, value: Json) -> Json:
        texts = self.values.get(name, NONE)
        return texts.get(value, value) if isinstance(value, str) else value

    @property
    def reverse(self) -> "Renaming":
        """Return the renaming from the new names to the old ones."""
        values = {self.members.get(member, member): _reversed(texts) for member, texts in self.values.items()}
        return Renaming(self.beside, _reversed(self.members), values, self.exact)


def _reversed(names: Names) -> Names:
    return {new: old for old, new in names.items()}


SPLITS: Names = {"random": "random", "order": "order", "column": "group"}

LIKELIHOODS: Sequence[Renaming] = (Renaming({"type": "student_t"}, {"dof": "degrees_of_freedom"}),)
"""In predictors; their other members have the names of the code."""

PLANS: Sequence[Renaming] = (
    Renaming(
        {"type": "gaussian_process"},
        {"vectors": "inducing_points", "least_gain": "min_gain", "most": "max_functions"},
        {"vectors": {"free": "optimised"}},
    ),
    Renaming({}, {"by": "type"}, {"by": SPLITS}, exact=True),
    Renaming({"column": None}, {"by": "type"}, {"by": SPLITS}, exact=True),
    Renaming({"spec": None}, {"rivals": "compared_models"}),
    Renaming({"standardise": None}, {"explained": "min_explained_variance"}, {"missing": {"refuse": "error"}}),
    Renaming({"model": None}, values={"on_error": {"refuse": "fail"}}),
    Renaming({"tolerance": None, "density": None}, {"most": "max_functions"}),
    Renaming({"task": "image", "psnr": None, "model": None}, {"functions": "max_functions"}),
    Renaming({"alias": None, "margin": None}, {"holder": "champion", "by": "criterion"}),
)
"""In requests and plans."""

REPORTS: Sequence[Renaming] = (
    Renaming({"last_gain": None, "widths": None}, {"process_sd": "signal_sd"}),
    Renaming({"row": None}, {"typicality": "weight"}, exact=True),
    Renaming(
        {"detail": None},
        values={"kind": {"copies": "duplicates", "not_computable": "numerical_failure"}},
        exact=True,
    ),
    Renaming({"integral_kept": None}, {"negative": "integral_negative"}),
    Renaming({"variances": None, "rows_drawn": None}, {"reached": "explained_variance"}),
    Renaming({"input": None, "frequency": None}, {"place": "location", "span": "scale"}),
)
"""In reports of trainings, and their functions."""

RESULTS: Sequence[Renaming] = (
    Renaming({"kind": "evaluation", "figures": None}, {"unanswered": "rows_not_predicted"}),
    Renaming({"kind": "prediction", "size": None}, {"unanswered": "rows_not_predicted"}),
    Renaming(
        {"rmse": None, "pit": None},
        {"impossible": "rows_of_zero_density", "steps": "bin_edges", "standardised": "standardised_residuals"},
    ),
    Renaming(
        {"rows": None},
        {
            "lowest": "lower",
            "highest": "upper",
            "prediction": "mean_prediction",
            "residual": "mean_residual",
            "absolute": "mean_absolute_residual",
        },
        exact=True,
    ),
    Renaming({"confusion": None, "brier": None}, {"unknown": "rows_of_unknown_class", "areas": "auc_per_class"}),
    Renaming({"value": None}, {"within": "tolerance"}, exact=True),
    Renaming({"estimate": None, "metric": None}, {"left_out": "rows_without_loss", "holder": "champion"}),
    Renaming({"moved": None, "challenger": None}, {"holder": "champion", "lost_rows": "rows_without_challenger_loss"}),
)
"""In results of evaluations, promotions and batch predictions."""

MODELS: Sequence[Renaming] = (
    Renaming({"covariance": None, "gamma": None}, {"amplitude": "signal_variance"}),
    Renaming({"model": None}, {"least": "min", "greatest": "max"}, exact=True),
    Renaming({"type": "steps", "inputs": None}, {"places": "locations"}),
    Renaming({"type": "b_splines", "inputs": None}, {"places": "locations", "spans": "scales"}),
    Renaming({"type": "gabor", "centres": None}, {"spans": "scales"}),
)
"""In the models of exported documents."""

STORED: Sequence[Renaming] = (*LIKELIHOODS, *PLANS, *REPORTS, *RESULTS)
DOCUMENTS: Sequence[Renaming] = (*LIKELIHOODS, *PLANS, *REPORTS, *MODELS)


def renamed(value: Json, renamings: Sequence[Renaming] = STORED) -> Json:
    """Return a document with the current names, or with those of other `renamings`."""
    if isinstance(value, list):
        return [renamed(inner, renamings) for inner in value] if any(map(_is_object, value)) else value
    if not isinstance(value, dict):
        return value
    found = {name: renamed(inner, renamings) for name, inner in value.items()}
    for renaming in renamings:
        found = renaming.applied(found)
    return found


def in_former_names(value: Json, renamings: Sequence[Renaming] = STORED) -> Json:
    """Return a document with the former names, the inverse of `renamed`."""
    return renamed(value, tuple(renaming.reverse for renaming in renamings))


def current_document(value: Json) -> Json:
    """Return an exported document of any format version with the members of the newest.

    The report of a model in a document of format version 1 keeps its members; they are read with the evidence.
    """
    value = with_temperatures(value)
    if not isinstance(value, dict):
        return value
    match value.get("format_version"), value.get("task"):
        case 1, "regression" | "classification":
            return {name: one if name == "report" else renamed(one, DOCUMENTS) for name, one in value.items()}
        case 1 | 2, _:
            return renamed(value, DOCUMENTS)
        case _:
            return value


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def with_temperatures(value: Json) -> Json:
    """Return a document in which each `sharpness` s of a likelihood is a `temperature` of 1/s."""
    if isinstance(value, list):
        return [with_temperatures(inner) for inner in value] if value and isinstance(value[0], dict) else value
    if not isinstance(value, dict):
        return value
    if value.get("type") != "one_against_rest" or not _is_sharpness(value.get("sharpness")):
        return {name: with_temperatures(inner) for name, inner in value.items()}
    others = {name: inner for name, inner in value.items() if name != "sharpness"}
    return others | {"temperature": _temperature(value["sharpness"])}


def _is_sharpness(value: Json) -> bool:
    return value == "learned" or (isinstance(value, int | float) and value > 0.0)


def _temperature(sharpness: Json) -> Json:
    return 1.0 / sharpness if isinstance(sharpness, int | float) else sharpness
