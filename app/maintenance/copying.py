"""A copy of the database in another one, usually of a SQLite file in PostgreSQL."""

from app import administration
from app.database import revision
from app.database.contents import contents_of
from app.database.copying import CopiedTable, copy_rows, shapes
from app.database.engine import make_engine
from app.database.snapshots import check_unused
from app.errors import UnavailableError
from app.jobs.queue import migrations as queue_migrations
from app.maintenance.database_url import check_url
from app.maintenance.restore import refuse_content
from app.settings import Settings
from app.tables import Base


def copy_database(settings: Settings, target: Settings) -> tuple[CopiedTable, ...]:
    """Copy all rows of the settings' database, the queue's included, into another database without content.

    The tables are created first. All or nothing is copied, and compared. The service must not run. Raises
    NotEmptyError, UnavailableError.
    """
    check_url(settings)
    check_url(target)
    source_engine = make_engine(settings.url, password_file=settings.database_password_file)
    target_engine = make_engine(target.url, password_file=target.database_password_file, creates=True)
    try:
        check_unused(source_engine)
        if not revision.is_current(source_engine):
            raise UnavailableError(
                "The database is not at the revision of this release: run `relevance migrate` first."
            )
        refuse_content(contents_of(target_engine), "copy into an empty database.")
        check_unused(target_engine)
        administration.migrate_tables(target.url, target.database_password_file)
        return copy_rows(source_engine, target_engine, (*shapes(Base.metadata), *queue_migrations.tables()))
    finally:
        source_engine.dispose()
        target_engine.dispose()
