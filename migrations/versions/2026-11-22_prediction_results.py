"""The files that batch predictions make, in pieces."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_22_prediction_results"
down_revision: str | None = "2026_12_02_test_messages"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "prediction_results",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.CheckConstraint("rows >= 0 AND faulty >= 0 AND size >= 0", name="ck_prediction_results_counts"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name="fk_prediction_results_job_id_training_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_prediction_results"),
    )
    op.create_table(
        "prediction_pieces",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.Column("first_byte", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("layer IN ('file', 'rows')", name="ck_prediction_pieces_layer"),
        sa.CheckConstraint("first_byte >= 0", name="ck_prediction_pieces_counts"),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["prediction_results.job_id"],
            name="fk_prediction_pieces_job_id_prediction_results",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "layer", "first_byte", name="pk_prediction_pieces"),
    )


def downgrade() -> None:
    op.drop_table("prediction_pieces")
    op.drop_table("prediction_results")
