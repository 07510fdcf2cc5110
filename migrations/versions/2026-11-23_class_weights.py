"""Versions of three and more classes: a function has a weight for each of them."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_23_class_weights"
down_revision: str | None = "2026_11_22_processes"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("relevance_vectors", sa.Column("weight_means", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("relevance_vectors", "weight_means")
