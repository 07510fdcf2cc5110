"""The totals of ended jobs, by kind, final state and duration."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_10_job_totals"
down_revision: str | None = "2026_12_09_sessions"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "job_totals",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("bound", sa.Double(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "state", "bound", name=op.f("pk_job_totals")),
    )


def downgrade() -> None:
    op.drop_table("job_totals")
