"""The numbers of changes of an owner's jobs, and indexes for lists of jobs of all kinds and their counts."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_19_job_changes"
down_revision: str | None = "2026_12_18_key_changes"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None

INDEXES = {
    "ix_training_jobs_owner_id": ["owner", "id"],
    "ix_training_jobs_owner_state_id": ["owner", "state", "id"],
    "ix_training_jobs_owner_kind_state": ["owner", "kind", "state"],
    "ix_training_jobs_owner_change_id": ["owner", "change", "id"],
}


def upgrade() -> None:
    op.create_table(
        "job_changes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_changes")),
    )
    op.add_column("training_jobs", sa.Column("change", sa.BigInteger(), nullable=False, server_default="0"))
    for name, columns in INDEXES.items():
        op.create_index(op.f(name), "training_jobs", columns)


def downgrade() -> None:
    for name in INDEXES:
        op.drop_index(op.f(name), "training_jobs")
    op.drop_column("training_jobs", "change")
    op.drop_table("job_changes")
