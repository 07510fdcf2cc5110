"""The number of rows of a batch prediction with unknown categories."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_21_unknown_categories"
down_revision: str | None = "2026_12_20_diagnostics"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None


def upgrade() -> None:
    op.add_column("prediction_results", sa.Column("averaged", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("prediction_results", "averaged")
