"""The options of the command line for class priors and costs: JSON, or a file that holds it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from relevance_bayes.cli.console import refuse
from relevance_bayes.client.json import Form
from relevance_bayes.records.values import Label

T = TypeVar("T")

ClassPriors = Annotated[
    str | None,
    typer.Option(metavar="JSON|FILE", help='The prior probability of each class, as {"no": 0.98, "yes": 0.02}.'),
]

Costs = Annotated[
    str | None,
    typer.Option(
        metavar="JSON|FILE",
        help="The costs of decisions, as [[0, 1], [20, 0]]: a row for each true class, with a cost a decision.",
    ),
]

RejectCost = Annotated[float | None, typer.Option(min=0, help="The expected cost above which a row is left undecided.")]

Components = Annotated[
    int | None,
    typer.Option(min=1, show_default="10", help="The number of components to write, of a model of components."),
]

_PRIORS: Form[dict[str, float]] = Form(dict[str, float])
_COSTS: Form[list[list[float]]] = Form(list[list[float]])


def read_priors(given: str | None, classes: Sequence[Label]) -> dict[Label, float] | None:
    """Return the prior of each class; raises typer.Exit(1) where a key is not in `classes`."""
    if given is None:
        return None
    read = _read("--class-priors", given, _PRIORS)
    return {_label(text, classes): prior for text, prior in read.items()}


def read_costs(given: str | None) -> list[list[float]] | None:
    """Return the rows of costs; raises typer.Exit(1) where they are not rows of numbers."""
    return None if given is None else _read("--costs", given, _COSTS)


def _read(option: str, given: str, adapter: Form[T]) -> T:
    try:
        text = given if given.lstrip()[:1] in ("[", "{") else Path(given).read_text()
        return adapter.read(text)
    except ValueError as wrong:
        refuse(f"{option}: {wrong}")
    except OSError as absent:
        refuse(f"{option}: neither JSON nor a file: {absent.strerror}: {given}")


def _label(text: str, classes: Sequence[Label]) -> Label:
    if not classes:
        return text  # the version predicts a number: the service rejects the option
    for label in classes:
        if text == label or (not isinstance(label, str) and text == json.dumps(label)):
            return label
    known = ", ".join(label if isinstance(label, str) else json.dumps(label) for label in classes)
    refuse(f"--class-priors: there is no class {text}; the classes are {known}.")
