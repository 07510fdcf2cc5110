"""Relevance vectors of several models that predict together name theirs."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_24_pools"
down_revision: str | None = "2026_11_23_running_time"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("relevance_vectors", sa.Column("member", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("relevance_vectors", "member")
