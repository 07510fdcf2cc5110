"""The owners that made API keys, the credentials that submitted jobs, and invitations of members."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_24_makers"
down_revision: str | None = "2026_12_23_releases"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None

MADE_BY = "ix_api_keys_owner_made_by"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("made_by", sa.Text(), nullable=True))
    op.create_index(op.f(MADE_BY), "api_keys", ["owner", "made_by"])
    op.add_column("training_jobs", sa.Column("submitted_with", sa.Text(), nullable=True))
    op.create_table(
        "invitations",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "subject", name=op.f("pk_invitations")),
    )
    op.create_index(op.f("ix_invitations_subject_owner"), "invitations", ["subject", "owner"])


def downgrade() -> None:
    op.drop_table("invitations")
    op.drop_column("training_jobs", "submitted_with")
    op.drop_index(op.f(MADE_BY), "api_keys")
    op.drop_column("api_keys", "made_by")
