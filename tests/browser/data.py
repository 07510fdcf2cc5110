"""The data of a service for tests that only look: models of numbers and of classes, and names that are markup."""

from dataclasses import dataclass

from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json
from tests.packaging.wheels import ROOT

KIOSK = ROOT / "examples" / "tour" / "kiosk.csv"
LATER = ROOT / "examples" / "tour" / "kiosk-later.csv"
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
    markup_prediction: str
    evaluation: str
    promotion: str
    prediction: str
    classes_evaluation: str
    later: str

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
            "compare": "models/kiosk/compare?first=1&second=2",
            "evaluate": f"models/kiosk/versions/1/evaluate?dataset={self.later}",
            "promote": f"models/kiosk/versions/2/promote?alias=champion&dataset={self.later}&margin=0.5",
            "batch": f"batch?model=kiosk&version=1&dataset={self.later}",
            "evaluation": f"jobs/evaluation/{self.evaluation}",
            "confusion": f"jobs/evaluation/{self.classes_evaluation}",
            "promotion": f"jobs/promotion/{self.promotion}",
            "prediction": f"jobs/prediction/{self.prediction}",
            "missing": "datasets/01900000-0000-7000-8000-000000000009",
            "nowhere": "no/such/view",
        }


def filled(calls: Client, url: str, *, with_markup: bool = True) -> Filled:
    """Upload, train, evaluate, promote and predict; returns once all jobs have ended. `with_markup`: also with names
    that are markup."""
    dataset, screening, later = (calls.upload(path) for path in (KIOSK, SCREENING, LATER))
    kiosk: dict[str, Json] = {"dataset_id": dataset.id, "target": "litres", "effort": "quick"}
    requests: list[dict[str, Json]] = [
        {**kiosk, "validation": {"folds": 3}},
        {"dataset_id": screening.id, "target": "ill", "effort": "quick", "holdout": 0.2},
    ]
    markup = _markup(calls) if with_markup else ""
    if markup:
        requests.append({"dataset_id": markup, "target": MARKUP[0], "effort": "quick", "model": "markup"})
    jobs = [_trained(calls, request) for request in requests]
    _trained(calls, {**kiosk, "prior": {"type": "independent"}, "basis": [{"type": "inputs"}], "holdout": 0.2})
    calls.aliases.move("kiosk", "champion", 2, reason="The first that was good enough.")
    evaluations = [
        calls.evaluations.submit(model, table.id, version=version).id
        for model, version, table in (("kiosk", 1, later), ("kiosk", 2, later), ("screening", 1, screening))
    ]
    promotion = calls.promotions.submit("kiosk", "champion", 1, later.id).id
    predictions = [calls.batch_predictions.submit("kiosk", later.id, version=1, keep=["litres"]).id]
    if markup:
        calls.aliases.move("markup", "champion", 1, reason=MARKUP[0])
        predictions.append(calls.batch_predictions.submit("markup", markup, keep=[MARKUP[0], MARKUP[2]]).id)
    ends = [calls.evaluations.wait(job).state for job in evaluations]
    ends += [calls.promotions.wait(promotion).state, *(calls.batch_predictions.wait(job).state for job in predictions)]
    assert {*ends} == {"succeeded"}
    return Filled(
        url,
        dataset.id,
        jobs[0],
        screening.id,
        markup,
        jobs[-1],
        predictions[-1],
        evaluations[0],
        promotion,
        predictions[0],
        evaluations[2],
        later.id,
    )


def _markup(calls: Client) -> str:
    """A dataset whose names and texts are markup."""
    labels = [MARKUP[index % 2] for index in range(24)]
    numbers = {
        name: [((7 * row + 3 * place + row * row) % 11) / 2 for row in range(24)]
        for place, name in enumerate(MARKUP[2:])
    }
    return calls.create_dataset({MARKUP[0]: labels, **numbers}, name=MARKUP[1]).id


def _trained(calls: Client, request: dict[str, Json]) -> str:
    """The job of a training that has succeeded."""
    ended = calls.trainings.wait(calls.trainings.submit(request).id)
    assert ended.state == "succeeded", ended.error
    return ended.id
