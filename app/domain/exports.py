"""A version on its way out or in: what other programs, and another service, can take over."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.models import SupervisedPredictor, SupervisedReport


@dataclass(frozen=True, eq=False)
class ExportedVersion:
    """Version `number` of `model`, as the service that trained it had it: all that it predicts with, and its report."""

    model: str
    number: int
    created_at: datetime
    report: SupervisedReport
    predictor: SupervisedPredictor
