"""The diagnostics of versions, beside their reports."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_20_diagnostics"
down_revision: str | None = "2026_12_19_job_changes"
branch_labels: str | None = None
depends_on: str | None = None
oldest_compatible: str | None = None


def upgrade() -> None:
    op.add_column("model_versions", sa.Column("diagnostics", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("model_versions", "diagnostics")
