"""All tables of the service: importing this module completes the metadata of `Base`, as migrations need it."""

from app.accounts import tables as keys
from app.audit import tables as audit
from app.database import holds
from app.database.base import Base
from app.datasets import tables as datasets
from app.http import tables as idempotency_keys
from app.jobs import tables as jobs
from app.limits import tables as limits
from app.outcomes import tables as outcomes
from app.prediction import tables as results
from app.registry import tables as models
from app.webhooks import tables as webhooks

__all__ = ["Base"]

TABLES = (audit, datasets, holds, idempotency_keys, jobs, keys, limits, models, outcomes, results, webhooks)
"""The modules that define them."""
