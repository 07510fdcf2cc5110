"""Columns are called by the words of the field, as the members of the API are."""

from alembic import op

revision: str = "2026_12_08_column_names"
down_revision: str | None = "2026_12_07_api_keys"
branch_labels: str | None = None
depends_on: str | None = None

NAMES = (
    ("training_jobs", "rival_version", "compared_version"),
    ("workers", "beat_at", "heartbeat_at"),
    ("request_keys", "heard_at", "updated_at"),
    ("webhook_attempts", "obstacle", "error"),
)
"""Each table, with the name of a column before and after."""


def upgrade() -> None:
    for table, before, after in NAMES:
        op.alter_column(table, before, new_column_name=after)
    _move_index("heard_at", "updated_at")


def downgrade() -> None:
    for table, before, after in NAMES:
        op.alter_column(table, after, new_column_name=before)
    _move_index("updated_at", "heard_at")


def _move_index(before: str, after: str) -> None:
    op.drop_index(op.f(f"ix_request_keys_{before}"), "request_keys")
    op.create_index(op.f(f"ix_request_keys_{after}"), "request_keys", [after])
