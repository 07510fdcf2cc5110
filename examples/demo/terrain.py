"""The fourth model: a hilly land from 150 of its heights, beside the classical machine and models of scikit-learn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.demo.comparison import CHOICES
from examples.demo.heights import Grid, Heights, coarser, measured_at, survey
from examples.demo.peers import Peer, gaussian_process, support_vectors
from examples.demo.report import print_version, trained_version
from examples.demo.truth import Array, write_csv
from relevance_bayes.cli.progress import watch
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, SupervisedVersion

ROWS = 150
NAMES = {"automatic": "defaults", "independent": "classical machine"}
TWO_SIDED_95 = 1.96


@dataclass(frozen=True, eq=False)
class Labelled:
    """An engine's predictions at the test places: root mean square error, and the quality of its intervals."""

    reported: Peer
    rmse: float
    nll: float | None
    within_95: float | None


def run(client: Client, console: Console, directory: Path) -> Path:
    """Upload the heights, train twice, predict the land between them; return the path of the picture."""
    console.rule(f"[bold]4. Real data: hills by Jacksboro, Tennessee, from {ROWS} heights", align="left")
    surveyed = survey()
    training, land = measured_at(surveyed, ROWS, seed=1), coarser(surveyed)
    requested = land.all()
    columns = {**_columns(training.places), "height": _list(training.metres)}
    dataset = client.upload(write_csv(directory / "heights.csv", columns))
    console.print(f"Uploaded {dataset.rows} rows: km east and north, metres. Training twice, as before:")
    labelled = {}
    for name, choices in CHOICES.items():
        job = client.trainings.submit(
            {"dataset_id": dataset.id, "target": "height", "model": f"heights-{name}", **choices}
        )
        watch(client.trainings.follow(job.id), label=name, console=console)
        version = trained_version(client, job.id)
        labelled[NAMES[name]] = _labelled(_predicted(client, NAMES[name], version, requested), requested)
        if name == "automatic":
            print_version(console, version)
    for peer in (gaussian_process, support_vectors):
        reported = peer(training.places, training.metres, requested.places)
        labelled[reported.name] = _labelled(reported, requested)
    _beside_each_other(console, labelled, requested)
    return _picture(training, land, labelled, directory / "heights.png")


def _columns(places: Array) -> dict[str, list[float]]:
    return {"east": _list(places[:, 0]), "north": _list(places[:, 1])}


def _list(values: Array) -> list[float]:
    return [float(value) for value in values]


def _predicted(client: Client, name: str, version: SupervisedVersion, requested: Heights) -> Peer:
    columns: dict[str, Json] = {of: list[Json](values) for of, values in _columns(requested.places).items()}
    responses = client.predict(version.model, {"columns": columns}, version=version.version).predictions
    mean, sd = (np.array([getattr(response, of) for response in responses]) for of in ("mean", "sd"))
    return Peer(name, mean, sd, version.functions, version.seconds)


def _labelled(reported: Peer, requested: Heights) -> Labelled:
    residual = requested.metres - reported.mean
    rmse = float(np.sqrt(np.mean(residual**2)))
    if reported.sd is None:
        return Labelled(reported, rmse, None, None)
    away = np.abs(residual) / reported.sd
    nll = float(np.mean(0.5 * away**2 + np.log(reported.sd) + 0.5 * np.log(2.0 * np.pi)))
    return Labelled(reported, rmse, nll, float(np.mean(away <= TWO_SIDED_95)))


def _beside_each_other(console: Console, labelled: dict[str, Labelled], requested: Heights) -> None:
    table = Table("", "off by, m", "nll", "within 95 %", "functions", "seconds", box=None, padding=(0, 3, 0, 0))
    for name, one in labelled.items():
        nll, within = (
            ("–", "–") if one.nll is None or one.within_95 is None else (f"{one.nll:.2f}", f"{one.within_95:.1%}")
        )
        facts = (f"{one.rmse:.1f}", nll, within, str(one.reported.functions), f"{one.reported.seconds:.1f}")
        table.add_row(name, *facts)
    console.print(
        f"At {len(requested.metres):,} other places, where the land is {np.std(requested.metres):.0f} m off its mean "
        "(root mean square, all of it; lower is better):"
    )
    console.print(table)
    ours, classical, exact = (labelled[name] for name in (*NAMES.values(), "Gaussian process"))
    console.print(
        f"By the defaults the error is {ours.rmse / classical.rmse:.2f} of the classical machine's, "
        f"and {ours.rmse / exact.rmse:.2f} of\nthe process's that keeps all {exact.reported.functions} rows.\n"
    )


def _picture(training: Heights, land: Grid, labelled: dict[str, Labelled], path: Path) -> Path:
    from examples.demo.terrain_picture import draw_terrain

    draw_terrain(path, training, land, labelled)
    return path
