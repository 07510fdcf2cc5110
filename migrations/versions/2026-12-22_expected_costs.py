"""The speed of a worker, the expected cost of a training job, and an index that counts unfinished jobs alone."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_22_expected_costs"
down_revision: str | None = "2026_12_21_unknown_categories"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None

UNFINISHED = "ix_training_jobs_unfinished"


def upgrade() -> None:
    op.add_column("workers", sa.Column("speed", sa.Double(), nullable=True))
    op.add_column("training_jobs", sa.Column("expected_cost", sa.Text(), nullable=True))
    _index("owner", "finished_at", "for_model")


def downgrade() -> None:
    _index("owner", "for_model")
    op.drop_column("training_jobs", "expected_cost")
    op.drop_column("workers", "speed")


def _index(*columns: str) -> None:
    """Create the index of unfinished jobs anew: with `finished_at` SQLite reads it alone, and never the rows."""
    is_open = sa.text("finished_at IS NULL")
    op.drop_index(UNFINISHED, "training_jobs")
    op.create_index(UNFINISHED, "training_jobs", list(columns), sqlite_where=is_open, postgresql_where=is_open)
