"""The request of a training from the options of a command."""

from dataclasses import dataclass
from pathlib import Path

import typer

from relevance_bayes.cli.option_values import Document, basis_value, likelihood_value, request_value, split_value
from relevance_bayes.client.json import exclude_none
from relevance_bayes.client.responses import Json

WITHOUT_TARGET = ("approximation", "image", "components")
"""The tasks that predict no column."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The values of options, None where not given."""

    target: str | None = None
    model: str | None = None
    inputs: list[str] | None = None
    task: str | None = None
    likelihood: str | None = None
    prior: str | None = None
    kernel: str | None = None
    width: str | None = None
    noise_sd: str | None = None
    noise_column: str | None = None
    missing: str | None = None
    dates: str | None = None
    text: str | None = None
    split: str | None = None
    holdout: float | None = None
    validation: int | None = None
    seed: int | None = None
    effort: str | None = None
    prefer: str | None = None
    max_score_loss: float | None = None
    local: str | None = None
    keep_rows: bool | None = None
    budget: float | None = None
    positive_class: str | None = None
    priority: int | None = None


def training_document(choices: TrainOptions, request: Path | None) -> Document:
    """Return the request of the API: that of the file, updated by the options. Raises typer.BadParameter."""
    document = {} if request is None else request_value(request)
    given: dict[str, Json] = {
        "target": choices.target,
        "model": choices.model,
        "inputs": None if choices.inputs is None else list(choices.inputs),
        "task": choices.task,
        "prior": None if choices.prior is None else {"type": choices.prior},
        "missing": choices.missing,
        "dates": choices.dates,
        "text": choices.text,
        "keep_rows": choices.keep_rows,
        "holdout": choices.holdout,
        "validation": None if choices.validation is None else {"folds": choices.validation},
        "seed": choices.seed,
        "effort": choices.effort,
        "prefer": choices.prefer,
        "max_score_loss": choices.max_score_loss,
        "local": None if choices.local is None else {"type": choices.local},
        "budget": None if choices.budget is None else {"cpu_seconds": choices.budget},
        "positive_class": choices.positive_class,
        "priority": choices.priority,
        "basis": basis_value(choices.kernel, choices.width),
        "likelihood": likelihood_value(choices.likelihood, choices.noise_sd, choices.noise_column),
        "split": None if choices.split is None else split_value(choices.split),
    }
    document |= exclude_none(given)
    if "target" not in document and document.get("task") not in WITHOUT_TARGET:
        raise typer.BadParameter("pass the column to predict", param_hint="--target")
    return document
