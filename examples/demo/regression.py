"""The first model: a curve from noisy points."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.demo import truth
from examples.demo.report import print_version, trained_version
from relevance_bayes.cli.progress import watch
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, Prediction, SupervisedVersion

ROWS = 100
FRESH = 10_000


def run(client: Client, console: Console, directory: Path) -> Path:
    """Upload the data, train, predict and compare; return the path of the picture."""
    console.rule("[bold]1. Regression: sin(x)/x, with noise of sd 0.1 added", align="left")
    training = truth.draw_curve(ROWS, seed=1)
    file = truth.write_csv(directory / "sinc.csv", {"x": training.x.tolist(), "y": training.y.tolist()})
    dataset = client.upload(file)
    console.print(f"Uploaded {file}: {dataset.rows} rows. Training on them, with the target only:")
    job = client.trainings.submit({"dataset_id": dataset.id, "target": "y"})
    watch(client.trainings.follow(job.id), label="sinc", console=console)
    version = trained_version(client, job.id)
    print_version(console, version, truth=f"(the truth: {truth.NOISE_SD:g})")
    _beside_the_truth(client, console, version)
    _coverage(client, console, version)
    return _picture(client, version, training, directory / "sinc.png")


def _predict(client: Client, version: SupervisedVersion, x: truth.Array) -> tuple[Prediction, ...]:
    columns: dict[str, Json] = {"x": x.tolist()}
    return client.predict(version.model, {"columns": columns}, version=version.version).predictions


def _beside_the_truth(client: Client, console: Console, version: SupervisedVersion) -> None:
    x = np.linspace(-9.0, 9.0, 7)
    table = Table("x", "truth", "mean", "95 % interval", box=None, padding=(0, 3, 0, 0))
    for at, actual, response in zip(x, truth.sinc(x), _predict(client, version, x), strict=True):
        table.add_row(
            f"{at:+.1f}", f"{actual:+.3f}", f"{response.mean:+.3f}", f"{response.lower:+.3f} to {response.upper:+.3f}"
        )
    console.print(table)


def _coverage(client: Client, console: Console, version: SupervisedVersion) -> None:
    fresh = truth.draw_curve(FRESH, seed=2)
    responses = _predict(client, version, fresh.x)
    lower, upper, mean = (
        np.array([getattr(response, of) for response in responses]) for of in ("lower", "upper", "mean")
    )
    within = np.mean((lower <= fresh.y) & (fresh.y <= upper))
    rmse = np.sqrt(np.mean((mean - truth.sinc(fresh.x)) ** 2))
    console.print(
        f"Of {FRESH:,} fresh observations {within:.1%} fall within their 95 % interval; "
        f"the mean is {rmse:.3f} from the true function (root mean square).\n"
    )


def _picture(client: Client, version: SupervisedVersion, training: truth.Curve, path: Path) -> Path:
    from examples.demo.pictures import draw_fit

    x = np.linspace(-truth.MAX_X, truth.MAX_X, 401)
    vectors = tuple(client.relevance_vectors(version.model, version.version))
    draw_fit(path, training, x, _predict(client, version, x), vectors)
    return path
