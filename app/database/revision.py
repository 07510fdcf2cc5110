"""The revision of the tables: that of the database and the expected one."""

from sqlalchemy import Engine, inspect, text

from app.database.failures import translated

EXPECTED = "2026_12_16_outcomes"
"""The last of the `migrations`; changed with each new migration."""

TABLE = "alembic_version"


def is_migrated(engine: Engine) -> bool:
    """Return whether the database is at exactly the expected revision; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        if not inspect(connection).has_table(TABLE):
            return False
        return connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalars().all() == [EXPECTED]
