"""A database as commands change it: its tables, migrations, API keys and limits of owners; and its audit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy

from app.accounts import tables as account_tables
from app.accounts import tables as limit_tables
from app.accounts.limits import OwnersWithLimits
from app.accounts.service import ApiKeys
from app.audit import tables as audit_tables
from app.audit.service import Audit
from app.database import transaction
from app.database import vacuum as vacuums
from app.database.base import Base
from app.database.engine import file_of, make_engine
from app.database.failures import translated
from app.database.revision import MigrationPlan
from app.database.transaction import OpenTransaction
from app.database.vacuum import FileSize, file_size
from app.datasets import tables as dataset_tables
from app.http import tables as http_tables
from app.jobs import tables as job_tables
from app.jobs.queue import client as queue_migrations
from app.jobs.repository import renew_epochs
from app.origin import acting, command_origin
from app.outcomes import tables as outcome_tables
from app.prediction import tables as prediction_tables
from app.registry import tables as registry_tables
from app.services import make_base, use_of
from app.settings import Settings
from app.webhooks import tables as webhook_tables

__all__ = ["Base"]

TABLES = (
    account_tables,
    audit_tables,
    dataset_tables,
    transaction,
    http_tables,
    job_tables,
    limit_tables,
    outcome_tables,
    prediction_tables,
    registry_tables,
    webhook_tables,
)
"""The modules that define them."""


def migrate(settings: Settings) -> None:
    """Create the database's tables, or upgrade them to the expected revision, and add the initial API key.

    Raises UnavailableError, InvalidRequestError for a short key.
    """
    migrate_tables(settings.url, settings.database_password_file)
    if settings.initial_api_key is not None:
        with api_keys(settings) as keys:
            keys.add_initial(settings.initial_api_key.get_secret_value())


def migrate_tables(url: sqlalchemy.URL, password_file: Path | None = None) -> None:
    """Create the tables of a database, the queue's included, or upgrade them; raises UnavailableError."""
    # Imported here: Alembic takes memory that a serving process does not need.
    from app.database import migrations as storage_migrations

    engine = make_engine(url, password_file=password_file, creates=True)
    try:
        storage_migrations.migrate(engine)
        queue_migrations.migrate(engine)
    finally:
        engine.dispose()


def migration_plan(settings: Settings) -> MigrationPlan:
    """Return what a migration of the database would do; raises UnavailableError."""
    # Imported here: Alembic takes memory that a serving process does not need.
    from app.database import migrations as storage_migrations

    path = file_of(settings.url) if settings.url.get_backend_name() == "sqlite" else None
    if path is not None and not Path(path).exists():
        return storage_migrations.plan_of_empty()
    engine = make_engine(settings.url, password_file=settings.database_password_file)
    try:
        return storage_migrations.plan(engine, silence_seconds=settings.heartbeat_timeout_seconds)
    finally:
        engine.dispose()


def vacuum(settings: Settings) -> tuple[FileSize | None, FileSize | None]:
    """Vacuum the database, and return its size before and after it, None for PostgreSQL; raises UnavailableError."""
    engine = make_engine(settings.url, password_file=settings.database_password_file)
    try:
        before = file_size(engine)
        vacuums.vacuum(engine)
        return before, file_size(engine)
    finally:
        engine.dispose()


def renew_change_epochs(url: sqlalchemy.URL, password_file: Path | None = None) -> None:
    """Make positions among the changes of jobs unknown, as after a restore; raises UnavailableError."""
    engine = make_engine(url, password_file=password_file)
    try:
        with translated(), engine.begin() as connection:
            renew_epochs(connection)
    finally:
        engine.dispose()


@contextmanager
def api_keys(settings: Settings) -> Iterator[ApiKeys]:
    """The API keys of a database, for the command line; raises UnavailableError."""
    with _command_transactions(settings) as transaction:
        yield ApiKeys(transaction)


@contextmanager
def audit(settings: Settings) -> Iterator[Audit]:
    """The audit of a database, for the command line; raises UnavailableError."""
    with _command_transactions(settings) as transaction:
        yield Audit(transaction)


@contextmanager
def limited_owners(settings: Settings) -> Iterator[OwnersWithLimits]:
    """The limits of owners in a database, for the command line; raises UnavailableError."""
    with _command_transactions(settings) as transaction:
        yield OwnersWithLimits(transaction, use_of)


@contextmanager
def _command_transactions(settings: Settings) -> Iterator[OpenTransaction]:
    """Open transactions on a database, whose changes are those of the current command."""
    base = make_base(settings)
    try:
        with acting(command_origin()):
            yield base.transaction
    finally:
        base.close()
