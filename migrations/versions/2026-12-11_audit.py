"""The audit: chains of entries about changes, one for each owner."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_11_audit"
down_revision = "2026_12_11_owner_limits"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "audit_chains",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expired", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_audit_chains")),
    )
    op.create_table(
        "audit_entries",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=True),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("user_agent", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "number", name=op.f("pk_audit_entries")),
    )
    op.create_index(op.f("ix_audit_entries_owner_at"), "audit_entries", ["owner", "at"])
    for column in ("action", "actor_id", "resource"):
        name = op.f(f"ix_audit_entries_owner_{column}_number")
        op.create_index(name, "audit_entries", ["owner", column, "number"])


def downgrade() -> None:
    op.drop_table("audit_entries")
    op.drop_table("audit_chains")
