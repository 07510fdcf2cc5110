"""API keys, of which the digest is stored."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_07_api_keys"
down_revision: str | None = "2026_12_06_job_holds"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    op.create_index(op.f("ix_api_keys_owner_id"), "api_keys", ["owner", "id"])
    op.create_index(op.f("ix_api_keys_digest"), "api_keys", ["digest"], unique=True)


def downgrade() -> None:
    op.drop_table("api_keys")
