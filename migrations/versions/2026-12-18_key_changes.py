"""Indexes of the times of API keys, by which processes read those that changed."""

from alembic import op

revision: str = "2026_12_18_key_changes"
down_revision: str | None = "2026_12_17_tracestates"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None

COLUMNS = ("created_at", "revoked_at", "expires_at")


def upgrade() -> None:
    for column in COLUMNS:
        op.create_index(op.f(f"ix_api_keys_{column}"), "api_keys", [column])


def downgrade() -> None:
    for column in COLUMNS:
        op.drop_index(op.f(f"ix_api_keys_{column}"), "api_keys")
