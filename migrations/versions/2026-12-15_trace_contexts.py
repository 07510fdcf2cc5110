"""The trace contexts of jobs and of webhook deliveries, for those that are traced."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_15_trace_contexts"
down_revision: str | None = "2026_12_14_submitters"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None


def upgrade() -> None:
    op.add_column("training_jobs", sa.Column("traceparent", sa.Text(), nullable=True))
    op.add_column("training_jobs", sa.Column("attempt_traceparent", sa.Text(), nullable=True))
    op.add_column("webhook_deliveries", sa.Column("traceparent", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("webhook_deliveries", "traceparent")
    op.drop_column("training_jobs", "attempt_traceparent")
    op.drop_column("training_jobs", "traceparent")
