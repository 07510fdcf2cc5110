"""The requests of what learns without a target, as the API wants them."""

from relevance_bayes.cli.training import Document, widths
from relevance_bayes.client.responses import Json


def approximation_document(
    width: str,
    *,
    coefficients: str | None,
    model: str | None,
    inputs: list[str] | None,
    constant: float | None,
    tolerance: float | None,
    max_functions: int | None,
    density: bool,
) -> Document:
    """The request for an approximation by few terms. Raises typer.BadParameter."""
    given: dict[str, Json] = {
        "task": "approximation",
        "width": widths(width),
        "coefficients": coefficients,
        "model": model,
        "inputs": None if inputs is None else list(inputs),
        "constant": constant,
        "tolerance": tolerance,
        "max_functions": max_functions,
        "density": density or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def components_document(
    *,
    model: str | None,
    inputs: list[str] | None,
    kernel: str | None,
    width: str | None,
    standardise: bool | None,
    min_explained_variance: float | None,
    missing: str | None,
    seed: int | None,
) -> Document:
    """The request for components of rows. Raises typer.BadParameter."""
    given: dict[str, Json] = {
        "task": "components",
        "model": model,
        "inputs": None if inputs is None else list(inputs),
        "kernel": None if kernel is None else {"type": kernel},
        "width": None if width is None else widths(width),
        "standardise": standardise,
        "min_explained_variance": min_explained_variance,
        "missing": missing,
        "seed": seed,
    }
    return {name: value for name, value in given.items() if value is not None}
