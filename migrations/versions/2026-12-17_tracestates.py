"""The entries of tracing systems in the trace contexts of jobs and of webhook deliveries."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_17_tracestates"
down_revision: str | None = "2026_12_16_outcomes"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None


def upgrade() -> None:
    op.add_column("training_jobs", sa.Column("tracestate", sa.Text(), nullable=True))
    op.add_column("webhook_deliveries", sa.Column("tracestate", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("webhook_deliveries", "tracestate")
    op.drop_column("training_jobs", "tracestate")
