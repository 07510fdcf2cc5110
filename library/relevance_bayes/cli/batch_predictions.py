"""`relevance predict-dataset`: a version's predictions for a whole dataset, by a worker, as a file."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.options import HERE, AsJson, Dataset, Url, VersionOfModel, dataset_id, refuse_unless_one
from relevance_bayes.cli.progress import watch
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.client import Problem
from relevance_bayes.types.formats import FILE_FORMATS, by_suffix

BATCH_FORMATS = [one for one in FILE_FORMATS if one.for_batches]


def predict_dataset(
    model: VersionOfModel,
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
    refuse_unless_one(file, dataset)
    with service(url) as client:
        coded = by_suffix(output, BATCH_FORMATS)
        if coded is None:
            endings = ", ".join(suffix for one in BATCH_FORMATS for suffix in one.suffixes)
            refuse(f"{output}: the ending says the format: {endings}.")
        job = client.batch_predictions.submit(
            model,
            dataset_id(client, file, dataset),
            format=coded.name,
            keep=tuple(keep or ()),
            outputs=tuple(outputs) if outputs else None,
            interval=interval,
            on_error="fail" if fail_on_error else None,
            csv_escape_formulas=csv_escape_formulas or None,
        )
        try:
            watch(client.batch_predictions.follow(job.id), label=model)
        except KeyboardInterrupt:
            warn(f"The batch prediction {job.id} goes on.")
            raise
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
            f", {job.result.rows_not_predicted:,} of them without an answer" if job.result.rows_not_predicted else ""
        )
        echo(f"Predictions for {job.result.rows:,} rows{without} are in {output}.")
