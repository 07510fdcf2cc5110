"""The times of changes of sessions, and their ends, so that processes read those alone that changed."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_12_ended_sessions"
down_revision: str | None = "2026_12_11_audit"
branch_labels: str | None = None
depends_on: str | None = None

LONG_AGO = "1970-01-01 00:00:00.000000"


def upgrade() -> None:
    changed_at = sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False, server_default=LONG_AGO)
    op.add_column("sessions", changed_at)
    op.add_column("sessions", sa.Column("is_ended", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(op.f("ix_sessions_changed_at"), "sessions", ["changed_at"])


def downgrade() -> None:
    op.execute("DELETE FROM sessions WHERE is_ended")
    op.drop_index(op.f("ix_sessions_changed_at"), "sessions")
    op.drop_column("sessions", "is_ended")
    op.drop_column("sessions", "changed_at")
