"""Values of options: names of the core's unions, which are imported where one is given, widths, noise and splits."""

import json
from pathlib import Path
from typing import TypeAlias, get_args

import typer

from relevance_bayes.client.responses import Json

Document: TypeAlias = dict[str, Json]

WIDTH_SEARCHES = ("cross_validation", "evidence", "evidence_per_input")
"""The ways to find a width, by the API's names."""


def kernel_name(name: str) -> str:
    """The name of a kernel; raises typer.BadParameter."""
    return _one_of(name, kernels())


def covariance_name(name: str) -> str:
    """The name of a kernel that is a covariance; raises typer.BadParameter."""
    return _one_of(name, covariances())


def likelihood_name(name: str) -> str:
    """The name of a target's likelihood; raises typer.BadParameter."""
    return _one_of(name, likelihoods())


def kernels() -> list[str]:
    """The names of kernels."""
    from relevance_bayes.core.kernels import Kernel

    return [member().type for member in get_args(Kernel)]


def covariances() -> list[str]:
    """The names of kernels that are covariances."""
    from relevance_bayes.core.kernels import Covariance

    return [member().type for member in get_args(Covariance)]


def likelihoods() -> list[str]:
    """The names of the likelihoods of targets."""
    from relevance_bayes.tasks.supervised.target import LIKELIHOODS

    return [member().type for members in LIKELIHOODS.values() for member in members]


def _one_of(name: str, names: list[str]) -> str:
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


def likelihood_value(name: str | None, noise_sd: str | None, column: str | None) -> Json:
    """The likelihood with its noise, None where nothing is given. Raises typer.BadParameter."""
    if noise_sd is None and column is None:
        return None if name is None else {"type": name}
    hint = "--noise-sd" if column is None else "--noise-column"
    if noise_sd is not None and column is not None:
        raise typer.BadParameter("pass one noise sd for all rows or a column of them, not both", param_hint=hint)
    if name not in {None, "gaussian"}:
        raise typer.BadParameter(f"{name} has no noise of a known sd", param_hint=hint)
    return {"type": "gaussian", "noise_sd": _noise_sd(noise_sd) if column is None else {"column": column}}


def _noise_sd(given: str | None) -> Json:
    """Return a number, or the name of a method of learning it."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def basis_value(kernel: str | None, width: str | None) -> Json:
    """Return a basis of one kernel with the given members; the service adds the others."""
    if kernel is None and width is None:
        return None
    given: dict[str, Json] = {"type": "kernel"}
    if kernel is not None:
        given["kernel"] = {"type": kernel}
    if width is not None:
        given["width"] = _width(width)
    return given


def _width(text: str) -> Json:
    if text in WIDTH_SEARCHES:
        return {"type": text}
    return {"type": "fixed", "value": widths(text, f", nor one of {', '.join(WIDTH_SEARCHES)}")}


def widths(text: str, others: str = "") -> Json:
    """Return a number or a list of numbers. Raises typer.BadParameter, whose message ends in `others`."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        detail = f"{text} is neither a number, nor numbers with commas between{others}"
        raise typer.BadParameter(detail, param_hint="--width") from None
    return numbers[0] if len(numbers) == 1 else list[Json](numbers)


def split_value(text: str) -> Json:
    """The split of `random`, `order`, `order:COLUMN` or `group:COLUMN`. Raises typer.BadParameter."""
    kind, _, column = text.partition(":")
    match kind, column:
        case (("random" | "order"), ""):
            return {"type": kind}
        case (("order" | "group"), str()):
            return {"type": kind, "column": column}
        case _:
            detail = f"{text!r} is not one of random, order, order:COLUMN, group:COLUMN"
            raise typer.BadParameter(detail, param_hint="--split")


def request_value(request: Path) -> Document:
    """The JSON object of a file. Raises typer.BadParameter."""
    try:
        document = json.loads(request.read_text())
    except (ValueError, UnicodeDecodeError) as broken:
        raise typer.BadParameter(f"{request} is not JSON: {broken}", param_hint="--request") from broken
    if not isinstance(document, dict):
        raise typer.BadParameter(f"{request} is not a JSON object", param_hint="--request")
    return document
