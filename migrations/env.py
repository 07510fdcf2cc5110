"""The connection of Alembic to the database: the one it is handed, or by RELEVANCE_DATABASE_URL from its command."""

import os
from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Connection

from app.database.base import UtcDateTime
from app.database.engine import make_engine
from app.database.migrations import exclusive, is_own
from app.maintenance.administration import Base


def plain_type(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    # A migration stays what it was: it must not change with a type of the application.
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_name=is_own,
        render_item=plain_type,
        render_as_batch=True,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if isinstance(given, Connection):
    run(given)
elif context.is_offline_mode():
    raise RuntimeError("migrations look at the database they change: run them online")
else:
    with exclusive(
        make_engine(os.environ.get("RELEVANCE_DATABASE_URL", "sqlite:///./relevance.db"), creates=True)
    ) as own:
        run(own)
