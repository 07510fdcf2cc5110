"""`relevance predict-dataset`: a file of a version's predictions for a dataset, computed in a batch job."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    CsvEscapeFormulas,
    Dataset,
    UnknownCategoriesOption,
    Url,
    VersionOfModel,
    dataset_id,
    refuse_unless_one,
)
from relevance_bayes.cli.progress import watch_job
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.client import Problem
from relevance_bayes.types.formats import FILE_FORMATS, by_suffix

BATCH_FORMATS = [one for one in FILE_FORMATS if one.for_batches]


def predict_dataset(
    model: VersionOfModel,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="Rows to predict for, which are uploaded as a dataset."
        ),
    ] = None,
    *,
    dataset: Dataset = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", dir_okay=False, help="The file to write; its suffix gives the format."
        ),
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to write too. May be repeated."),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--outputs", metavar="OUTPUT", help="An output to write, in the place of the default ones. May be repeated."
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(show_default="0.95", help="The probability of the interval from lower to upper."),
    ] = None,
    fail_on_error: Annotated[
        bool, typer.Option("--fail-on-error", help="Fail at the first row that can't be predicted for.")
    ] = False,
    unknown_categories: UnknownCategoriesOption = None,
    csv_escape_formulas: CsvEscapeFormulas = False,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for all rows of a dataset in a batch job.

    The result is downloaded to the file --output.
    """
    refuse_unless_one(file, dataset)
    with service(url) as client:
        coded = by_suffix(output, BATCH_FORMATS)
        if coded is None:
            endings = ", ".join(suffix for one in BATCH_FORMATS for suffix in one.suffixes)
            refuse(f"{output}: the suffix gives the format: {endings}.")
        job = client.batch_predictions.submit(
            model,
            dataset_id(client, file, dataset),
            format=coded.name,
            keep=tuple(keep or ()),
            outputs=tuple(outputs) if outputs else None,
            interval=interval,
            on_error="fail" if fail_on_error else None,
            unknown_categories=unknown_categories,
            csv_escape_formulas=csv_escape_formulas or None,
        )
        watch_job(client.batch_predictions, job, label=model)
        job = client.batch_predictions.get(job.id)
        if job.result is None:
            refuse(in_plain_text(Problem.of_job(job)))
        try:
            client.batch_predictions.download(job.id, output)
        except OSError as error:
            refuse(f"{output}: {error.strerror}")
        if as_json:
            print_json(job)
            return
        without = (
            f", {job.result.rows_not_predicted:,} of them without a prediction" if job.result.rows_not_predicted else ""
        )
        if job.result.rows_averaged:
            without += f", {job.result.rows_averaged:,} of them averages for categories that no training row had,"
        echo(f"Predictions for {job.result.rows:,} rows{without} are in {output}.")
