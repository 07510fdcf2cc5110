"""All tables of the service: importing this module completes the metadata of `Base`, as migrations need it."""

from app.accounts import tables as account_tables
from app.audit import tables as audit_tables
from app.database import holds
from app.database.base import Base
from app.datasets import tables as dataset_tables
from app.http import tables as http_tables
from app.jobs import tables as job_tables
from app.limits import tables as limit_tables
from app.outcomes import tables as outcome_tables
from app.prediction import tables as prediction_tables
from app.registry import tables as registry_tables
from app.webhooks import tables as webhook_tables

__all__ = ["Base"]

TABLES = (
    account_tables,
    audit_tables,
    dataset_tables,
    holds,
    http_tables,
    job_tables,
    limit_tables,
    outcome_tables,
    prediction_tables,
    registry_tables,
    webhook_tables,
)
"""The modules that define them."""
