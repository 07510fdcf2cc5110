"""The shapes of a version's functions that are on no row."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_24_function_shapes"
down_revision: str | None = "2026_11_23_class_weights"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("relevance_vectors", sa.Column("shape", sa.Text(), nullable=True))
    op.add_column("relevance_vectors", sa.Column("phase", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("relevance_vectors", "phase")
    op.drop_column("relevance_vectors", "shape")
