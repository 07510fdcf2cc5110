"""The second model: the probability of a class."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.demo import truth
from examples.demo.report import print_version, trained_version
from relevance_bayes.cli.progress import watch
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, SupervisedVersion

ROWS = 250
FRESH = 10_000
SPOTS = np.array([[-0.7, 0.3], [-0.3, 0.7], [0.3, 0.3], [0.4, 0.7], [0.0, 0.5], [0.35, 0.5], [-0.5, 0.5]])
"""The four centres, and three places in between."""


def run(client: Client, console: Console, directory: Path) -> Path:
    """Upload the data, train, predict and compare; return the path of the picture."""
    console.rule("[bold]2. Two classes: Ripley's mixture of four Gaussians", align="left")
    training = truth.draw_points(ROWS, seed=1)
    columns = {"x1": training.positions[:, 0].tolist(), "x2": training.positions[:, 1].tolist()}
    file = truth.write_csv(directory / "ripley.csv", {**columns, "class": training.labels.tolist()})
    dataset = client.upload(file)
    console.print(f"Uploaded {file}: {dataset.rows} rows. Training on them, with the target only:")
    job = client.trainings.submit({"dataset_id": dataset.id, "target": "class"})
    watch(client.trainings.follow(job.id), label="ripley", console=console)
    version = trained_version(client, job.id)
    print_version(console, version)
    _beside_the_truth(client, console, version)
    _errors(client, console, version)
    return _picture(client, version, training, directory / "ripley.png")


def _probability_of_one(client: Client, version: SupervisedVersion, positions: truth.Array) -> truth.Array:
    columns: dict[str, Json] = {"x1": positions[:, 0].tolist(), "x2": positions[:, 1].tolist()}
    responses = client.predict(version.model, {"columns": columns}, version=version.version).predictions
    chosen = [share.probability for response in responses for share in response.probabilities or () if share.label == 1]
    return np.array(chosen)


def _beside_the_truth(client: Client, console: Console, version: SupervisedVersion) -> None:
    ours, best = _probability_of_one(client, version, SPOTS), truth.probability_of_one(SPOTS)
    table = Table("x1", "x2", "p(class 1)", "by Bayes' rule", box=None, padding=(0, 3, 0, 0))
    for (x1, x2), own, actual in zip(SPOTS, ours, best, strict=True):
        table.add_row(f"{x1:+.2f}", f"{x2:+.2f}", f"{own:.3f}", f"{actual:.3f}")
    console.print(table)


def _errors(client: Client, console: Console, version: SupervisedVersion) -> None:
    fresh = truth.draw_points(FRESH, seed=2)
    ours, best = _probability_of_one(client, version, fresh.positions), truth.probability_of_one(fresh.positions)
    wrong, at_best = (np.mean((p > 0.5) != (fresh.labels == 1)) for p in (ours, best))
    console.print(
        f"Of {FRESH:,} fresh points {wrong:.1%} are misclassified; "
        f"knowing the mixture, {at_best:.1%} would be.\n"
        f"The probabilities are {np.mean(np.abs(ours - best)):.3f} from Bayes' rule on average.\n"
    )


def _picture(client: Client, version: SupervisedVersion, training: truth.Points, path: Path) -> Path:
    from examples.demo.pictures import draw_boundary

    across, up = np.linspace(-1.35, 1.05, 121), np.linspace(-0.3, 1.25, 79)
    positions = np.column_stack([grid.ravel() for grid in np.meshgrid(across, up)])
    probability = _probability_of_one(client, version, positions).reshape(len(up), len(across))
    vectors = tuple(client.relevance_vectors(version.model, version.version))
    draw_boundary(path, training, (across, up), probability, vectors)
    return path
