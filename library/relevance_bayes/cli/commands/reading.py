"""Commands that read: predictions, jobs and models."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.commands.options import HERE, AsJson, ReadableFile, Url, row_reader, writable_format

ModelOrAlias = Annotated[str, typer.Argument(metavar="MODEL", help="The model's name, or MODEL@ALIAS.")]
Version = Annotated[
    str | None, typer.Option(help="A version's number, or an alias; the newest by default.", show_default=False)
]


def predict(
    context: typer.Context,
    model: ModelOrAlias,
    file: ReadableFile,
    *,
    version: Version = None,
    interval: Annotated[float, typer.Option(help="Probability within lower and upper.")] = 0.95,
    explain: Annotated[
        int | None,
        typer.Option(min=1, max=20, help="Show so many functions of the model that contribute most to each row."),
    ] = None,
    class_priors: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help='How frequent each class is, as {"no": 0.98, "yes": 0.02}.')
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|FILE",
            help="Of decisions, as [[0, 1], [20, 0]]: a row for each true class, in it a cost for each decision.",
        ),
    ] = None,
    reject_cost: Annotated[
        float | None, typer.Option(min=0, help="Leave undecided what is expected to cost more than this.")
    ] = None,
    components: Annotated[
        int | None, typer.Option(min=1, help="Of components: the number of them in the output, 10 by default.")
    ] = None,
    coded: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            parser=writable_format,
            help="Predictions alone, in this format, as csv: FILE goes to the service as it is.",
        ),
    ] = None,
    csv_escape_formulas: Annotated[
        bool,
        typer.Option("--csv-escape-formulas", help="In CSV, an apostrophe before texts that would be formulas."),
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write to a file: .csv, or .json.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for the rows of FILE.

    FILE is in any format that rows come in, told apart by its name's ending, else CSV; npy holds numbers in the order
    of the model's inputs. The answer is a table on a terminal, else CSV. Its `support` is 1 where the data speak for
    the row, and near 0 away from all that the model has seen. Classes are decided between where one of --class-priors,
    --costs and --reject-cost is given.
    """
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.predicting import predict, predict_file
    from relevance_bayes.cli.prediction_columns import PredictOptions

    required = PredictOptions(
        interval, explain, class_priors, costs, reject_cost, components, csv_escape_formulas=csv_escape_formulas
    )
    with service(url) as client:
        if coded is not None:
            predict_file(client, model, file, coded, version=version, required=required, output=output)
            return
        predict(
            client,
            model,
            file,
            version=version,
            required=required,
            read_rows=row_reader(context),
            output=output,
            as_json=as_json,
        )


def decode(
    model: ModelOrAlias,
    output: Annotated[Path, typer.Option(help="Write to a file: .png (of an image), or .npy, which is exact.")],
    *,
    version: Version = None,
    url: Url = HERE,
) -> None:
    """Decode the image or the signal that MODEL encodes."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.encoding import decode

    with service(url) as client:
        decode(client, model, version, output)


def jobs(
    job: Annotated[str | None, typer.Argument(help="Show this one.")] = None,
    *,
    cancel: Annotated[str | None, typer.Option(metavar="JOB", help="Cancel this job.")] = None,
    retry: Annotated[str | None, typer.Option(metavar="JOB", help="Retry this job, which has ended.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Follow the events of the job until its end.")] = False,
    limit: Annotated[int, typer.Option(help="Most jobs to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List jobs of all kinds; show, follow, cancel or retry one."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.jobs import cancel_job, follow_job, list_jobs, retry_job, show_job

    if follow and job is None:
        raise typer.BadParameter("which job?", param_hint="--follow")
    with service(url) as client:
        if cancel is not None:
            cancel_job(client, cancel, as_json=as_json)
        elif retry is not None:
            retry_job(client, retry, as_json=as_json)
        elif job is not None and follow:
            follow_job(client, job, as_json=as_json)
        elif job is not None:
            show_job(client, job, as_json=as_json)
        else:
            list_jobs(client, limit=limit, as_json=as_json)


def datasets(
    *,
    name: Annotated[str | None, typer.Option(help="List those of this name.")] = None,
    limit: Annotated[int, typer.Option(help="Most datasets to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List datasets."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.listing import list_datasets

    with service(url) as client:
        list_datasets(client, name, limit=limit, as_json=as_json)


def versions(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.")],
    *,
    tag: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE", help="List those that have this tag.")] = None,
    limit: Annotated[int, typer.Option(help="Most versions to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the versions of MODEL: their aliases, what they learned from, and how well they did."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.listing import list_versions
    from relevance_bayes.cli.registry import read_tags

    with service(url) as client:
        list_versions(client, model, read_tags(tag or (), "--tag"), limit=limit, as_json=as_json)


def models(
    name: Annotated[str | None, typer.Argument(help="Show this one, or NAME@ALIAS.")] = None,
    *,
    version: Version = None,
    vectors: Annotated[bool, typer.Option("--relevance-vectors", help="Show the functions that it keeps.")] = False,
    tag: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE", help="List those that have this tag.")] = None,
    limit: Annotated[int, typer.Option(help="Most models, or vectors, to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List models, or show one."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.listing import list_models, list_vectors, show_model
    from relevance_bayes.cli.registry import read_tags

    with service(url) as client:
        if name is None:
            list_models(client, read_tags(tag or (), "--tag"), limit=limit, as_json=as_json)
        elif vectors:
            list_vectors(client, name, version, limit=limit, as_json=as_json)
        else:
            show_model(client, name, version, as_json=as_json)


def annotate(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A model, or a version of it: MODEL@ALIAS, MODEL@3.")],
    *,
    description: Annotated[str | None, typer.Option(help="What it is; empty for nothing.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="NAME:VALUE", help="Set this tag.")] = None,
    untag: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Remove this tag.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Describe and tag MODEL, or one of its versions."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.registry import annotate, read_tags
    from relevance_bayes.client.registry import AnnotationChange

    tags: dict[str, str | None] = {**dict.fromkeys(untag or ()), **read_tags(tag or (), "--tag")}
    with service(url) as client:
        annotate(client, name, AnnotationChange(description, tags or None), as_json=as_json)


def lineage(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A version of a model: MODEL@ALIAS, MODEL@3.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Show the lineage of a version: its data, the request, and the program that made it."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.registry import show_lineage

    with service(url) as client:
        show_lineage(client, name, as_json=as_json)


def statistics(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A version of a model: MODEL@ALIAS, MODEL@3.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Show the usage of a version: requests, rows, errors and latencies, counted by the process that answers."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.registry import show_statistics

    with service(url) as client:
        show_statistics(client, name, as_json=as_json)


def compare(
    context: typer.Context,
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help="A version: MODEL@ALIAS, MODEL@3; MODEL for the newest.")
    ],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another, of the same inputs and target.")],
    file: ReadableFile,
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Compare two versions on the rows of FILE: SECOND minus FIRST."""
    from relevance_bayes.cli.comparing import compare
    from relevance_bayes.cli.connection import service

    with service(url) as client:
        compare(client, first, second, file, read_rows=row_reader(context), as_json=as_json)
