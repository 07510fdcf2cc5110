"""`relevance predict-dataset`: a file of a version's predictions for a dataset, computed in a batch job."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import STREAM, echo_written, refuse, refuse_binary, warn
from relevance_bayes.cli.datasets import FileOptions
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    ClassPriors,
    Components,
    Costs,
    CsvEscapeFormulas,
    Dataset,
    NullsOption,
    Priority,
    RejectCost,
    UnknownCategoriesOption,
    Url,
    VersionOfModel,
    file_argument,
    read_costs,
    read_priors,
    row_reader,
    with_options,
)
from relevance_bayes.cli.prediction_output import PredictCommandOptions, columns_of, opened, write_with_texts
from relevance_bayes.cli.progress import watch_job
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.rows import Row, RowOptions, RowReader
from relevance_bayes.client import Client, Problem
from relevance_bayes.client.responses import VersionBase
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.formats import CSV, FILE_FORMATS, FileFormat, by_name, by_suffix
from relevance_bayes.records.values import Label

ROWS_AT_ONCE = 10_000
"""The number of rows of a file whose texts are held at once."""

BATCH_FORMATS = [one for one in FILE_FORMATS if one.for_batches]


def batch_format(name: str) -> str:
    """The name of a format of batch predictions; raises typer.BadParameter."""
    names = [one.name for one in BATCH_FORMATS]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


@with_options
def predict_dataset(
    context: typer.Context,
    model: VersionOfModel,
    file: Annotated[Path | None, file_argument("Rows to predict for, which are uploaded as a dataset.")] = None,
    *,
    dataset: Dataset = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            dir_okay=False,
            help="The file to write; its suffix gives the format. - is standard output.",
        ),
    ],
    coded: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            parser=batch_format,
            show_default="by the suffix of FILE, csv on standard output",
            help="The format of the file, such as parquet.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column to write too, in CSV of a CSV file to the letter. May be repeated."
        ),
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
    nulls: NullsOption = None,
    class_priors: ClassPriors = None,
    costs: Costs = None,
    reject_cost: RejectCost = None,
    components: Components = None,
    priority: Priority = 0,
    csv_escape_formulas: CsvEscapeFormulas = False,
    options: FileOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for all rows of a dataset in a batch job.

    The result is downloaded to the file --output.
    """
    options.refuse_unless_one(file, dataset)
    with service(url) as client:
        form = _format(output, coded)
        uploaded = None if file is None else options.upload(client, file, prompts=not as_json).dataset
        texts = None
        if keep and file is not None and uploaded is not None and form == CSV == (by_suffix(file) or CSV):
            texts = _texts(row_reader(context), file, options.of_texts(uploaded), keep)
        job = client.batch_predictions.submit(
            model,
            dataset or "" if uploaded is None else uploaded.id,
            format=form.name,
            keep=tuple(keep or ()),
            outputs=tuple(outputs) if outputs else None,
            interval=interval,
            on_error="fail" if fail_on_error else None,
            unknown_categories=unknown_categories,
            nulls=nulls,
            class_priors=None if class_priors is None else read_priors(class_priors, _classes(client, model)),
            costs=read_costs(costs),
            reject_cost=reject_cost,
            components=components,
            csv_escape_formulas=csv_escape_formulas or None,
            priority=priority,
        )
        watch_job(client.batch_predictions, job, label=model)
        job = client.batch_predictions.get(job.id)
        if job.result is None:
            refuse(in_plain_text(Problem.of_job(job)))
        if texts is None:
            _download(client, job.id, output)
        else:
            _download_with_texts(client, job.id, output, texts, escapes_formulas=csv_escape_formulas)
        if as_json and output != STREAM:
            print_json(job)
            return
        without = (
            f", {job.result.rows_not_predicted:,} of them without a prediction" if job.result.rows_not_predicted else ""
        )
        if job.result.rows_averaged:
            without += f", {job.result.rows_averaged:,} of them averages for missing values or unknown categories,"
        echo_written(output, f"Predictions for {job.result.rows:,} rows{without} are in {output}.")


def _classes(client: Client, model: str) -> tuple[Label, ...]:
    """Return the classes of a version; none where it predicts a number."""
    return columns_of(client.version(model, of=VersionBase), PredictCommandOptions()).classes


def _format(output: Path, coded: str | None) -> FileFormat:
    """Return the format of a file; raises typer.Exit(1) where neither the option nor the suffix gives one."""
    form = by_name(coded) if coded else CSV if output == STREAM else by_suffix(output, BATCH_FORMATS)
    if form is None:
        endings = ", ".join(suffix for one in BATCH_FORMATS for suffix in one.suffixes)
        refuse(f"{output}: the suffix gives the format: {endings}.")
    if output == STREAM:
        refuse_binary(form.name, is_text=form.is_text)
    return form


def _download(client: Client, job_id: str, output: Path) -> None:
    """Write the file of a job, to standard output once it is complete; raises typer.Exit(1)."""
    try:
        if output != STREAM:
            client.batch_predictions.download(job_id, output)
            return
        with TemporaryDirectory(prefix="relevance-") as folder:
            complete = Path(folder) / "predictions"
            client.batch_predictions.download(job_id, complete)
            with complete.open("rb") as opened:
                shutil.copyfileobj(opened, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        refuse(f"{output}: {error.strerror}")


def _texts(reader: RowReader, file: Path, options: RowOptions, names: Sequence[str]) -> Iterator[Sequence[str]] | None:
    """Return the texts of columns by row; None, with a warning, where this program can't read the file."""
    batches = reader(file, {}, size=ROWS_AT_ONCE, options=options)
    first: Sequence[Sequence[Row]] = ()
    with suppress(RelevanceError):
        first = [*islice(batches, 1)]
    if not first or any(name not in first[0][0] for name in names):
        warn(f"{', '.join(names)}: written as the service has read them, since this program can't read the file.")
        return None
    return ([str(row[name]) for name in names] for row in chain.from_iterable(chain(first, batches)))


def _download_with_texts(
    client: Client, job_id: str, output: Path, kept: Iterator[Sequence[str]], *, escapes_formulas: bool
) -> None:
    """Write the CSV of a job with the texts of a file in the place of the columns that it keeps; raises typer.Exit(1).

    `kept` are the texts of these columns, the first of the job's, by row.
    """
    try:
        with TemporaryDirectory(prefix="relevance-") as folder:
            complete = Path(folder) / "predictions"
            client.batch_predictions.download(job_id, complete)
            with complete.open(encoding="utf-8", newline="") as predicted, opened(output) as stream:
                write_with_texts(stream, predicted, kept, escapes_formulas=escapes_formulas)
    except (OSError, ValueError, RelevanceError) as error:
        refuse(f"{output}: {error.strerror if isinstance(error, OSError) else error}")
