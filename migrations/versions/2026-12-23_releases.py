"""The release of each process, the use of a worker, and the share at which an attempt began."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_23_releases"
down_revision: str | None = "2026_12_22_expected_costs"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None

OF_WORKERS = ("release", "revision", "slots", "running", "busy_seconds")


def upgrade() -> None:
    op.add_column("workers", sa.Column("release", sa.Text(), nullable=True))
    op.add_column("workers", sa.Column("revision", sa.Text(), nullable=True))
    op.add_column("workers", sa.Column("slots", sa.Integer(), nullable=True))
    op.add_column("workers", sa.Column("running", sa.Integer(), nullable=True))
    op.add_column("workers", sa.Column("busy_seconds", sa.Double(), nullable=True))
    op.add_column("training_jobs", sa.Column("attempt_share", sa.Double(), nullable=True))
    op.create_table(
        "api_processes",
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_api_processes")),
    )


def downgrade() -> None:
    op.drop_table("api_processes")
    op.drop_column("training_jobs", "attempt_share")
    for name in reversed(OF_WORKERS):
        op.drop_column("workers", name)
