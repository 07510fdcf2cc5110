"""Checkpoints of a job's starts for those after them: the progress, the number of crashes, and the last messages."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_26_checkpoints"
down_revision: str | None = "2026_11_25_images"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "job_checkpoints",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name="fk_job_checkpoints_job_id_training_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_job_checkpoints"),
    )
    op.add_column("training_jobs", sa.Column("deaths", sa.Integer(), server_default="0", nullable=False))
    op.add_column("training_jobs", sa.Column("handed_back", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("training_jobs", sa.Column("last_words", sa.Text(), nullable=True))
    op.add_column("job_transitions", sa.Column("resumed_attempt", sa.Integer(), nullable=True))
    op.add_column("job_transitions", sa.Column("resumed_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("job_transitions", "resumed_at")
    op.drop_column("job_transitions", "resumed_attempt")
    op.drop_column("training_jobs", "last_words")
    op.drop_column("training_jobs", "handed_back")
    op.drop_column("training_jobs", "deaths")
    op.drop_table("job_checkpoints")
