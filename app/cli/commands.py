"""The commands and their options; what they do stands in the modules that they import when they run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

application = typer.Typer(
    name="relevance",
    help="Calibrated predictions from sparse Bayesian models: a service, and its clients.",
    epilog="train, predict, jobs and models speak to a running service; the others are the service.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its help pages would load half of rich: 0.5 s instead of 0.2
)
check = typer.Typer(help="Say whether something is alive, for health checks.", no_args_is_help=True)
application.add_typer(check, name="check")


class Task(StrEnum):
    """What to learn."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class Kernel(StrEnum):
    """The shape of the functions."""

    GAUSSIAN = "gaussian"
    MATERN_3_2 = "matern_3_2"
    MATERN_5_2 = "matern_5_2"
    LAPLACIAN = "laplacian"
    CAUCHY = "cauchy"
    RATIONAL_QUADRATIC = "rational_quadratic"
    LINEAR = "linear"
    POLYNOMIAL = "polynomial"
    LINEAR_SPLINE = "linear_spline"
    CUBIC = "cubic"
    THIN_PLATE = "thin_plate"
    SIGMOID = "sigmoid"


class Likelihood(StrEnum):
    """How targets scatter."""

    GAUSSIAN = "gaussian"
    STUDENT_T = "student_t"
    LOG_GAUSSIAN = "log_gaussian"
    POISSON = "poisson"
    BERNOULLI = "bernoulli"
    CATEGORICAL = "categorical"
    ONE_AGAINST_REST = "one_against_rest"


class Prior(StrEnum):
    """What is known of the functions' weights beforehand."""

    AUTOMATIC = "automatic"
    INDEPENDENT = "independent"
    GAUSSIAN_PROCESS = "gaussian_process"


class Missing(StrEnum):
    """What to do about gaps."""

    REFUSE = "refuse"
    DROP_ROWS = "drop_rows"
    INDICATOR = "indicator"


Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", help="Where the service is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ReadableFile = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]
UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

HERE = "http://127.0.0.1:8000"


def main() -> None:
    """The command `relevance`."""
    application()


@application.command()
def serve(*, until_eof: UntilEof = False) -> None:
    """Run the API with a worker beside it.

    A SQLite database is made, or brought up to date, first. Settings: the README.
    """
    from app.cli.serving import serve
    from app.settings import Settings

    serve(Settings(), with_worker=True, until_eof=until_eof)


@application.command()
def api(*, until_eof: UntilEof = False) -> None:
    """Run the API alone."""
    from app.cli.serving import serve
    from app.settings import Settings

    serve(Settings(), with_worker=False, until_eof=until_eof)


@application.command()
def worker(*, until_eof: UntilEof = False) -> None:
    """Run a worker alone."""
    from app.cli.working import work
    from app.settings import Settings

    work(Settings(), until_eof=until_eof)


@application.command()
def migrate() -> None:
    """Make the database, or bring it up to date."""
    from app.cli.working import migrate
    from app.settings import Settings

    migrate(Settings())


@check.command("worker")
def check_worker() -> None:
    """Whether a worker of this host has been heard of lately."""
    from app.cli.working import check_worker
    from app.settings import Settings

    check_worker(Settings())


@application.command()
def train(
    file: ReadableFile,
    target: Annotated[str | None, typer.Option(help="The column to learn.")] = None,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="A column to learn from; repeat for more.")
    ] = None,
    task: Annotated[Task | None, typer.Option(help="Found out from the target where not given.")] = None,
    likelihood: Annotated[
        Likelihood | None,
        typer.Option(
            help="How the target scatters: gaussian by default; student_t with outliers, log_gaussian for positive "
            "numbers, poisson for counts; bernoulli for two classes, categorical for more, one_against_rest for many."
        ),
    ] = None,
    prior: Annotated[
        Prior | None,
        typer.Option(
            help="Of the weights. By default automatic: a Gaussian process, or independent if that is better."
        ),
    ] = None,
    kernel: Annotated[Kernel | None, typer.Option(help="Gaussian by default.")] = None,
    width: Annotated[
        str | None,
        typer.Option(
            help="A number, or one for each --input as 0.5,2,1 (raw inputs then), evidence_per_input (the default, but "
            "not with --prior independent), evidence, or cross_validation (the default there)."
        ),
    ] = None,
    noise_sd: Annotated[float | None, typer.Option(help="Known noise, in the target's units; else learned.")] = None,
    noise_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of each row's known noise sd, in the target's units."),
    ] = None,
    missing: Annotated[Missing | None, typer.Option(help="What to do about gaps; refuse by default.")] = None,
    split: Annotated[
        str | None, typer.Option(help="random (the default), order, order:COLUMN, or column:COLUMN for groups.")
    ] = None,
    holdout: Annotated[float | None, typer.Option(help="Share of rows only measured on.")] = None,
    validation: Annotated[
        int | None, typer.Option(min=2, max=20, help="Train again without each of so many folds, to measure on it.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides folds and the rows held out.")] = None,
    request: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A JSON file with any request; options win over it."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until it has ended.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Train on FILE, and say what was learned.

    FILE is CSV, Parquet or JSON, told apart by its name. Everything but --target has a good default.
    """
    from app.cli.connection import service
    from app.cli.training import Choices, spelled_out, train

    choices = Choices(
        target=target,
        model=model,
        inputs=inputs or None,
        task=task,
        likelihood=likelihood,
        prior=prior,
        kernel=kernel,
        width=width,
        noise_sd=noise_sd,
        noise_column=noise_column,
        missing=missing,
        split=split,
        holdout=holdout,
        validation=validation,
        seed=seed,
    )
    document = spelled_out(choices, request)
    with service(url) as client:
        train(client, file, document, wait=wait, as_json=as_json)


@application.command()
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.")],
    file: ReadableFile,
    *,
    version: Annotated[int | None, typer.Option(help="The newest by default.")] = None,
    interval: Annotated[float, typer.Option(help="Probability within lower and upper.")] = 0.95,
    explain: Annotated[
        int | None, typer.Option(min=1, max=20, help="Name so many functions of the model that add most to each row.")
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
    output: Annotated[Path | None, typer.Option(help="Write to a file: .csv, or .json.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for the rows of FILE.

    FILE is CSV or Parquet. The answer is a table on a terminal, else CSV. Its `support` is 1 where the data speak for
    the row, and near 0 away from all that the model has seen. Classes are decided between where one of --class-priors,
    --costs and --reject-cost is given.
    """
    from app.cli.connection import service
    from app.cli.predicting import Wanted, predict

    wanted = Wanted(interval, explain, class_priors, costs, reject_cost)
    with service(url) as client:
        predict(client, model, file, version=version, wanted=wanted, output=output, as_json=as_json)


@application.command()
def jobs(
    job: Annotated[str | None, typer.Argument(help="Show this one.")] = None,
    *,
    cancel: Annotated[str | None, typer.Option(metavar="JOB", help="End this one.")] = None,
    limit: Annotated[int, typer.Option(help="Most jobs to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List training jobs, show one, or cancel one."""
    from app.cli.connection import service
    from app.cli.listing import cancel_job, list_jobs, show_job

    with service(url) as client:
        if cancel is not None:
            cancel_job(client, cancel, as_json=as_json)
        elif job is not None:
            show_job(client, job, as_json=as_json)
        else:
            list_jobs(client, limit=limit, as_json=as_json)


@application.command()
def models(
    name: Annotated[str | None, typer.Argument(help="Show this one.")] = None,
    *,
    version: Annotated[int | None, typer.Option(help="This version; the newest by default.")] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Show the functions that it keeps.")] = False,
    limit: Annotated[int, typer.Option(help="Most models, or vectors, to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List models, or show what one has learned."""
    from app.cli.connection import service
    from app.cli.listing import list_models, list_vectors, show_model

    with service(url) as client:
        if name is None:
            list_models(client, limit=limit, as_json=as_json)
        elif vectors:
            list_vectors(client, name, version, limit=limit, as_json=as_json)
        else:
            show_model(client, name, version, as_json=as_json)
