"""The limits of owners, the demand that processes publish, and the size of datasets."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_11_owner_limits"
down_revision: str | None = "2026_12_10_job_totals"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "owner_limits",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_owner_limits")),
    )
    op.create_table(
        "rate_demands",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("process", sa.Uuid(), nullable=False),
        sa.Column("requests", sa.Double(), nullable=False),
        sa.Column("rows", sa.Double(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "process", name=op.f("pk_rate_demands")),
    )
    op.create_index(op.f("ix_rate_demands_process"), "rate_demands", ["process"])
    op.create_index(op.f("ix_rate_demands_published_at"), "rate_demands", ["published_at"])
    op.add_column("datasets", sa.Column("stored_bytes", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE datasets SET stored_bytes = COALESCE((SELECT SUM(LENGTH(content)) FROM dataset_blocks"
        " WHERE dataset_blocks.dataset_id = datasets.id), 0)"
    )


def downgrade() -> None:
    op.drop_column("datasets", "stored_bytes")
    op.drop_table("rate_demands")
    op.drop_table("owner_limits")
