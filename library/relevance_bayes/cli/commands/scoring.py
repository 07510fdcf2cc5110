"""Commands that predict or evaluate on whole datasets."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.commands.options import HERE, AsJson, Url

ModelOrAlias = Annotated[
    str, typer.Argument(metavar="MODEL", help="A version: MODEL@ALIAS, MODEL@3; MODEL for the newest.")
]
MaybeFile = Annotated[
    Path | None,
    typer.Argument(exists=True, dir_okay=False, help="Uploaded as a dataset; it has the target too."),
]


Dataset = Annotated[str | None, typer.Option(metavar="ID", help="An uploaded dataset, instead of FILE.")]


class Metric(StrEnum):
    """The compared metric; less is better."""

    RMSE = "rmse"
    MAE = "mae"
    NLL = "nll"
    ERROR = "error"
    LOG_LOSS = "log_loss"
    BRIER = "brier"


class By(StrEnum):
    """The quantity that must exceed the margin."""

    INTERVAL = "interval"
    ESTIMATE = "estimate"


def evaluate(
    model: ModelOrAlias,
    file: MaybeFile = None,
    *,
    dataset: Dataset = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Evaluate MODEL: its predictions for FILE against the targets there."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.evaluating import evaluate

    _refuse_unless_one(file, dataset)
    with service(url) as client:
        evaluate(client, model, file, dataset, wait=wait, as_json=as_json)


def promote(
    alias: Annotated[str, typer.Argument(metavar="MODEL@ALIAS", help="The alias that may move.")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="To where: a number, or another alias.")],
    file: MaybeFile = None,
    *,
    dataset: Dataset = None,
    metric: Annotated[Metric | None, typer.Option(help="rmse of numbers, log_loss of classes by default.")] = None,
    margin: Annotated[float | None, typer.Option(help="By how much it has to be better; 0 by default.", min=0)] = None,
    criterion: Annotated[By | None, typer.Option(help="The interval's lower end, by default, or the estimate.")] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Rows of one value belong together; the split's by default.")
    ] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Move MODEL@ALIAS to VERSION if that is better on FILE than the version to which it points; else exit with 1."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.evaluating import PromotionCriteria, promote
    from relevance_bayes.types.references import Reference

    _refuse_unless_one(file, dataset)
    named = Reference.read(alias)
    if not isinstance(named.version, str):
        raise typer.BadParameter(f"{alias} names no alias", param_hint="MODEL@ALIAS")
    to = int(version) if version.isdecimal() else version
    with service(url) as client:
        proof = PromotionCriteria(metric, margin, criterion, groups)
        promote(client, (named.model, named.version), to, file, dataset, proof, as_json=as_json)


def predict_dataset(
    model: ModelOrAlias,
    file: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="Uploaded as a dataset, to predict for.")
    ] = None,
    *,
    dataset: Dataset = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="The file to write; its ending says the format.")
    ],
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Stands before the predictions; may be repeated.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--outputs", metavar="OUTPUT", help="As of predict; may be repeated.")
    ] = None,
    interval: Annotated[float | None, typer.Option(help="The probability between lower and upper.")] = None,
    fail_on_error: Annotated[
        bool, typer.Option("--fail-on-error", help="End with the first that can't be predicted for.")
    ] = False,
    csv_escape_formulas: Annotated[
        bool,
        typer.Option("--csv-escape-formulas", help="In CSV, an apostrophe before texts that would be formulas."),
    ] = False,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for all rows of FILE or a dataset in a batch job, and download the result."""
    from relevance_bayes.cli.batches import BatchOptions, predict_dataset
    from relevance_bayes.cli.connection import service

    _refuse_unless_one(file, dataset)
    named = None if not outputs else tuple(outputs)
    required = BatchOptions(output, tuple(keep or ()), named, interval, fail_on_error, csv_escape_formulas)
    with service(url) as client:
        predict_dataset(client, model, file, dataset, required, as_json=as_json)


def _refuse_unless_one(file: Path | None, dataset: str | None) -> None:
    if (file is None) == (dataset is None):
        raise typer.BadParameter("on a FILE, or on a --dataset?", param_hint="FILE")
