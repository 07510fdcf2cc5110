"""The third model: ten inputs of which five matter, beside the classical machine on the same rows."""

from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.demo import truth
from examples.demo.report import print_version, trained_version
from relevance_bayes.cli.progress import watch
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, SupervisedVersion

ROWS = 150
FRESH = 5_000
CHOICES: dict[str, dict[str, Json]] = {
    "automatic": {},
    "independent": {"prior": {"type": "independent"}, "effort": "quick"},
}
"""The defaults, and the classical relevance vector machine: one width for all inputs, cross-validated."""

SHARES = np.linspace(0.05, 0.95, 19)
"""Probabilities of the intervals whose coverage is measured."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A version on fresh rows: errors against the truth, and the coverage of intervals of probabilities SHARES.

    `parts` are the mean variances noise, weights, residual; `straight` the inputs with a linear weight beyond 2 sds.
    """

    version: SupervisedVersion
    rmse: float
    nll: float
    coverage: truth.Array
    parts: truth.Array
    straight: frozenset[str]

    @property
    def coverage_95(self) -> float:
        """Return the coverage of the widest interval."""
        return float(self.coverage[-1])


def run(client: Client, console: Console, directory: Path) -> Path:
    """Upload the data, train twice, compare on fresh rows; return the path of the picture."""
    console.rule("[bold]3. Which inputs matter: Friedman's function of five columns among ten", align="left")
    training = truth.draw_table(ROWS, seed=1)
    dataset = client.upload(
        truth.write_csv(directory / "friedman.csv", {**_columns(training.inputs), "y": _list(training.y)})
    )
    console.print(f"Uploaded {dataset.rows} rows. Training twice: by the defaults, and as the classical machine:")
    fresh = truth.draw_table(FRESH, seed=2)
    measured = {}
    for name, choices in CHOICES.items():
        job = client.trainings.submit({"dataset_id": dataset.id, "target": "y", "model": f"friedman-{name}", **choices})
        watch(client.trainings.follow(job.id), label=name, console=console)
        measured[name] = _measured(client, trained_version(client, job.id), fresh)
    print_version(console, measured["automatic"].version, truth=f"(the truth: {truth.FRIEDMAN_NOISE_SD:g})")
    _beside_each_other(console, measured)
    return _picture(measured, directory / "friedman.png")


def _columns(inputs: truth.Array) -> dict[str, list[float]]:
    return {f"x{number + 1}": _list(inputs[:, number]) for number in range(truth.INPUTS)}


def _list(values: truth.Array) -> list[float]:
    return [float(value) for value in values]


def _measured(client: Client, version: SupervisedVersion, fresh: truth.Table) -> Measured:
    columns: dict[str, Json] = {name: list[Json](values) for name, values in _columns(fresh.inputs).items()}
    responses = client.predict(version.model, {"columns": columns}, version=version.version).predictions
    mean, sd = (np.array([getattr(response, of) for response in responses]) for of in ("mean", "sd"))
    parts = [
        (part.noise, part.weights, part.residual) for response in responses if (part := response.variance) is not None
    ]
    away = np.abs(fresh.y - mean) / sd
    within = [float(np.mean(away <= NormalDist().inv_cdf(0.5 + share / 2.0))) for share in SHARES]
    return Measured(
        version=version,
        rmse=float(np.sqrt(np.mean((mean - truth.friedman(fresh.inputs)) ** 2))),
        nll=float(np.mean(0.5 * away**2 + np.log(sd) + 0.5 * np.log(2.0 * np.pi))),
        coverage=np.array(within),
        parts=np.array(parts).mean(axis=0),
        straight=frozenset(
            vector.input
            for vector in client.relevance_vectors(version.model, version.version)
            if vector.input is not None and abs(vector.weight_mean or 0.0) > 2.0 * vector.weight_sd
        ),
    )


def _beside_each_other(console: Console, measured: dict[str, Measured]) -> None:
    table = Table(
        "prior", "from the truth", "nll", "within 95 %", "functions", "seconds", box=None, padding=(0, 3, 0, 0)
    )
    for name, one in measured.items():
        facts = (f"{one.rmse:.2f}", f"{one.nll:.2f}", f"{one.coverage_95:.1%}")
        table.add_row(name, *facts, str(one.version.functions), f"{one.version.seconds:.1f}")
    console.print(f"On {FRESH:,} fresh rows (root mean square error, mean negative log density: lower is better):")
    console.print(table)
    gained = 1.0 - measured["automatic"].rmse / measured["independent"].rmse
    console.print(f"By the defaults the error is {gained:.0%} less than the classical machine's.\n")


def _picture(measured: dict[str, Measured], path: Path) -> Path:
    from examples.demo.comparison_picture import draw_comparison

    draw_comparison(path, measured, SHARES)
    return path
