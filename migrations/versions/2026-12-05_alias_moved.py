"""The problem of a promotion whose alias was moved meanwhile is called `alias-moved`."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_05_alias_moved"
down_revision: str | None = "2026_12_04_names"
branch_labels: str | None = None
depends_on: str | None = None

BEFORE, AFTER = '"holder-changed"', '"alias-moved"'
"""As JSON strings, in which a quotation mark is escaped: so quoted they stand for the whole string alone."""


def upgrade() -> None:
    _rename(BEFORE, AFTER)


def downgrade() -> None:
    _rename(AFTER, BEFORE)


def _rename(before: str, after: str) -> None:
    jobs = sa.table("training_jobs", sa.column("error", sa.Text))
    renamed = sa.func.replace(jobs.c.error, before, after)
    op.execute(jobs.update().where(jobs.c.error.contains(before, autoescape=True)).values(error=renamed))
