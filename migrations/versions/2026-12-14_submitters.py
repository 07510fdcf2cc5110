"""The owners whose keys, tokens and sessions submitted jobs."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_14_submitters"
down_revision: str | None = "2026_12_13_members"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("training_jobs", sa.Column("submitted_by", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("training_jobs", "submitted_by")
