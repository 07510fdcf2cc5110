"""Versions for tests of figures: each kind of model that the page draws differently."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from relevance_bayes.client import Client
from relevance_bayes.client.responses import ComponentsJob, ImageJob, Json
from tests.packaging.wheels import ROOT

TOUR = ROOT / "examples" / "tour"
WIDE = 1_000
"""Columns of the widest table."""

CURVE, REGIONS, SURFACE, DATES, IMAGE, COMPONENTS, WIDTHS, DELETED = (
    "curve",
    "regions",
    "surface",
    "dates",
    "spot",
    "motor",
    "wide",
    "deleted",
)
MODELS = (CURVE, REGIONS, SURFACE, DATES, IMAGE, COMPONENTS, WIDTHS, DELETED)


@dataclass(frozen=True)
class Trained:
    """A service with versions that have figures, and the calls of its client."""

    url: str
    calls: Client

    def address(self, model: str) -> str:
        """The address of the version of a model."""
        return f"models/{model}/versions/1"


def trained(calls: Client, url: str) -> Trained:
    """Train a version of each of the models, and delete the dataset of `deleted`."""
    requests = _requests(calls)
    supervised = [
        calls.trainings.submit({"model": model, **request})
        for model, request in requests.items()
        if model not in {IMAGE, COMPONENTS}
    ]
    image = calls.trainings.submit({"model": IMAGE, **requests[IMAGE]}, of=ImageJob)
    components = calls.trainings.submit({"model": COMPONENTS, **requests[COMPONENTS]}, of=ComponentsJob)
    ended = [
        *(calls.trainings.wait(job.id) for job in supervised),
        calls.trainings.wait(image.id, of=ImageJob),
        calls.trainings.wait(components.id, of=ComponentsJob),
    ]
    assert [job.error for job in ended if job.state != "succeeded"] == []
    calls.delete_dataset(str(requests[DELETED]["dataset_id"]))
    return Trained(url, calls)


def _requests(calls: Client) -> dict[str, dict[str, Json]]:
    random = Random(5)
    quick: dict[str, Json] = {"effort": "quick", "validation": {"folds": 3}}
    linear: dict[str, Json] = {
        "effort": "quick",
        "holdout": 0.2,
        "basis": [{"type": "inputs"}, {"type": "bias"}],
        "prior": {"type": "independent"},
    }
    x = [round(random.uniform(-10, 10), 2) for _ in range(120)]
    y = [round(math.sin(at) / at + random.gauss(0, 0.08), 3) for at in x]
    a, b = ([round(random.gauss(0, 1), 2) for _ in range(200)] for _ in range(2))
    regions = ["outer" if p * p + q * q > 2 else "left" if p < 0 else "right" for p, q in zip(a, b, strict=True)]
    squares = [round(p * p - q + random.gauss(0, 0.2), 3) for p, q in zip(a, b, strict=True)]
    days = [f"2025-{1 + row // 28:02d}-{1 + row % 28:02d}" for row in range(200)]
    load = [None if row % 8 == 0 else round(1e6 * (2 + math.sin(row / 20)), 0) for row in range(200)]
    sales = [round(200 + 50 * math.sin(row / 30) + random.gauss(0, 10), 1) for row in range(200)]
    wide = {f"column {place}": [random.gauss(0, 1) for _ in range(60)] for place in range(WIDE - 1)}
    wide["target"] = [round(2 * value + random.gauss(0, 0.3), 3) for value in wide["column 700"]]

    def stored(columns: Mapping[str, Sequence[float | str | None]], name: str) -> str:
        return calls.create_dataset(columns, name=name).id

    pair = {"a": a, "b": b}
    return {
        CURVE: {
            **quick,
            "dataset_id": stored({"x": x, "y": y}, CURVE),
            "target": "y",
            "prior": {"type": "independent"},
        },
        REGIONS: {**quick, "dataset_id": stored({**pair, "region": regions}, REGIONS), "target": "region"},
        SURFACE: {**quick, "dataset_id": stored({**pair, "z": squares}, SURFACE), "target": "z"},
        DATES: {**quick, "dataset_id": stored({"day": days, "load": load, "sales": sales}, DATES), "target": "sales"},
        IMAGE: {"dataset_id": calls.upload(TOUR / "spot.png").id, "task": "image", "psnr": 36},
        COMPONENTS: {"dataset_id": calls.upload(TOUR / "motor.csv").id, "task": "components"},
        WIDTHS: {**linear, "dataset_id": stored(wide, WIDTHS), "target": "target"},
        DELETED: {**quick, "dataset_id": calls.upload(TOUR / "kiosk.csv", name=DELETED).id, "target": "litres"},
    }
