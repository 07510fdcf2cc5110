"""`relevance delete`: datasets, models and versions are deleted, after a prompt."""

from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo, has_terminal, refuse
from relevance_bayes.cli.options import HERE, Url

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without a prompt.")]


def delete_dataset(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The id of the dataset.")],
    *,
    yes: Yes = False,
    url: Url = HERE,
) -> None:
    """Delete DATASET; versions learned from it stay."""
    with service(url) as client:
        found = client.dataset(dataset)
        _confirm(f"dataset {found.name} ({found.rows:,} rows)", yes=yes)
        client.delete_dataset(dataset)
        echo(f"Dataset {dataset} is deleted.")


def delete_model(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")],
    *,
    yes: Yes = False,
    url: Url = HERE,
) -> None:
    """Delete MODEL with all versions and aliases."""
    with service(url) as client:
        versions = client.model(model).versions
        _confirm(f"{model} with {versions:,} version{'' if versions == 1 else 's'}", yes=yes)
        client.delete_model(model)
        echo(f"Model {model} is deleted.")


def delete_version(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")],
    version: Annotated[int, typer.Argument(metavar="VERSION", help="The number of the version.", min=1)],
    *,
    yes: Yes = False,
    url: Url = HERE,
) -> None:
    """Delete VERSION of MODEL, unless an alias points to it."""
    with service(url) as client:
        _confirm(f"version {version} of {model}", yes=yes)
        client.delete_version(model, version)
        echo(f"Version {version} of {model} is deleted.")


def delete_prediction(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The id of a batch prediction that has ended.")],
    *,
    yes: Yes = False,
    url: Url = HERE,
) -> None:
    """Delete the batch prediction JOB with its file."""
    with service(url) as client:
        found = client.batch_predictions.get(job)
        _confirm(f"the batch prediction of {found.model} with its file", yes=yes)
        client.batch_predictions.delete(job)
        echo(f"Batch prediction {job} is deleted.")


def _confirm(what: str, *, yes: bool) -> None:
    """Prompt on a terminal; elsewhere `--yes` is required, so that a script never waits for input."""
    if yes:
        return
    if not has_terminal():
        refuse("Standard input is not a terminal: pass --yes to delete without a prompt.")
    if not typer.confirm(f"Delete {what}?", err=True):
        refuse("Nothing was deleted.")
