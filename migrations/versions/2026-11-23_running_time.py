"""The running time of a job: its time limit counts seconds of running, and no time by the clock on the wall."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_23_running_time"
down_revision: str | None = "2026_11_22_prediction_results"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("training_jobs", sa.Column("running_seconds", sa.Double(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("training_jobs", "running_seconds")
