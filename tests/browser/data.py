"""The data of a service for tests that only look: models of numbers and of classes, and names that are markup."""

from dataclasses import dataclass

from relevance_bayes.client import Relevance
from relevance_bayes.client.responses import Json
from tests.packaging.wheels import ROOT

KIOSK = ROOT / "examples" / "tour" / "kiosk.csv"
SCREENING = ROOT / "examples" / "tour" / "screening.csv"

MARKUP = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
    "{{constructor.constructor('alert(5)')()}}",
    "${alert(6)}",
    "</textarea><iframe srcdoc='<script>parent.alert(7)</script>'>",
    "x' onmouseover='alert(8)",
    "\u202eright to left",
)
"""Texts that run where a page takes them for markup or for code."""


@dataclass(frozen=True)
class Filled:
    """A service with data: its origin, and what was made."""

    url: str
    dataset: str
    job: str
    screening: str
    markup: str
    markup_job: str

    @property
    def views(self) -> dict[str, str]:
        """The addresses of all views, by their names."""
        return {
            "home": "",
            "datasets": "datasets",
            "dataset": f"datasets/{self.dataset}",
            "train": f"train/{self.dataset}?target=litres",
            "jobs": "jobs",
            "job": f"jobs/training/{self.job}",
            "models": "models",
            "model": "models/kiosk",
            "version": "models/kiosk/versions/1",
            "classes": "models/screening/versions/1",
            "missing": "datasets/01900000-0000-7000-8000-000000000009",
            "nowhere": "no/such/view",
        }


def filled(calls: Relevance, url: str, *, with_markup: bool = True) -> Filled:
    """Upload and train; returns once all versions are there. `with_markup`: also of names that are markup."""
    dataset = calls.upload(KIOSK)
    screening = calls.upload(SCREENING)
    requests: list[dict[str, Json]] = [
        {"dataset_id": dataset.id, "target": "litres", "effort": "quick", "validation": {"folds": 3}},
        {"dataset_id": screening.id, "target": "ill", "effort": "quick", "holdout": 0.2},
    ]
    markup = ""
    if with_markup:
        labels = [MARKUP[index % 2] for index in range(24)]
        numbers = {
            name: [((7 * row + 3 * place + row * row) % 11) / 2 for row in range(24)]
            for place, name in enumerate(MARKUP[2:])
        }
        markup = calls.create_dataset({MARKUP[0]: labels, **numbers}, name=MARKUP[1]).id
        requests.append({"dataset_id": markup, "target": MARKUP[0], "effort": "quick", "model": "markup"})
    jobs = [calls.trainings.submit(request) for request in requests]
    for job in jobs:
        ended = calls.trainings.wait(job.id)
        assert ended.state == "succeeded", ended.error
    return Filled(url, dataset.id, jobs[0].id, screening.id, markup, jobs[-1].id)
