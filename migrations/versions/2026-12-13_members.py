"""Members of projects, and the project that a session acts in."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_13_members"
down_revision: str | None = "2026_12_12_ended_sessions"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "members",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "subject", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_subject_owner"), "members", ["subject", "owner"])
    op.add_column("sessions", sa.Column("project", sa.Text(), nullable=True))


def downgrade() -> None:
    # Without the column they would act in the project of their key's owner.
    op.execute("DELETE FROM sessions WHERE project IS NOT NULL")
    op.drop_column("sessions", "project")
    op.drop_table("members")
