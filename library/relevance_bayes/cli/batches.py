"""`relevance predict-dataset`: a version's predictions for a whole dataset, by a worker, as a file."""

from dataclasses import dataclass
from pathlib import Path

from relevance_bayes.cli.connection import in_plain_text
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.progress import watch
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.client import Problem, Relevance
from relevance_bayes.types.formats import FILE_FORMATS, by_suffix

BATCH_FORMATS = [one for one in FILE_FORMATS if one.for_batches]


@dataclass(frozen=True)
class BatchOptions:
    """The options of a batch prediction."""

    output: Path
    keep: tuple[str, ...]
    outputs: tuple[str, ...] | None
    interval: float | None
    refuse: bool
    csv_escape_formulas: bool = False


def predict_dataset(
    client: Relevance, model: str, file: Path | None, dataset: str | None, required: BatchOptions, *, as_json: bool
) -> None:
    """Predict for a file, which is uploaded, or a dataset; raises typer.Exit(1) when the job does not succeed."""
    coded = by_suffix(required.output, BATCH_FORMATS)
    if coded is None:
        endings = ", ".join(suffix for one in BATCH_FORMATS for suffix in one.suffixes)
        refuse(f"{required.output}: the ending says the format: {endings}.")
    dataset_id = client.upload(file).id if dataset is None and file is not None else dataset or ""
    job = client.batch_predictions.submit(
        model,
        dataset_id,
        format=coded.name,
        keep=required.keep,
        outputs=required.outputs,
        interval=required.interval,
        on_error="fail" if required.refuse else None,
        csv_escape_formulas=required.csv_escape_formulas or None,
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
        client.batch_predictions.download(job.id, required.output)
    except OSError as error:
        refuse(f"{required.output}: {error.strerror}")
    if as_json:
        print_json(job)
        return
    without = f", {job.result.rows_not_predicted:,} of them without an answer" if job.result.rows_not_predicted else ""
    echo(f"Predictions for {job.result.rows:,} rows{without} are in {required.output}.")
