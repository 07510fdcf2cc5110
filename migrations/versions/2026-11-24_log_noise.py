"""Relevance vectors state which function of a model they are part of: its mean, or its log noise variance."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_24_log_noise"
down_revision: str | None = "2026_11_24_pools"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("relevance_vectors", sa.Column("function", sa.Text(), nullable=False, server_default="mean"))


def downgrade() -> None:
    op.drop_column("relevance_vectors", "function")
