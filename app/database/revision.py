"""At which revision of its tables a database is, and at which it should be."""

from sqlalchemy import Engine, inspect, text

from app.database.failures import translated

EXPECTED = "2026_12_06_job_holds"
"""The last of the `migrations`: whoever adds one writes it here."""

TABLE = "alembic_version"


def is_migrated(engine: Engine) -> bool:
    """Return whether the database is at exactly the revision that this code expects; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        if not inspect(connection).has_table(TABLE):
            return False
        return connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalars().all() == [EXPECTED]
