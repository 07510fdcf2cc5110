"""Webhooks of the ends of jobs, what they were sent, and which jobs still have their progress."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_28_webhooks"
down_revision: str | None = "2026_11_27_request_keys"
branch_labels: str | None = None
depends_on: str | None = None

KEPT = sa.text("progress_kept AND finished_at IS NOT NULL")
PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    op.add_column("training_jobs", sa.Column("progress_kept", sa.Boolean(), server_default=sa.true(), nullable=False))
    op.create_index(
        "ix_training_jobs_progress_kept",
        "training_jobs",
        ["finished_at"],
        sqlite_where=KEPT,
        postgresql_where=KEPT,
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_owner_id", "webhooks", ["owner", "id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("entry", sa.Uuid(), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delay", sa.Double(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.CheckConstraint("state IN ('delivered', 'failed', 'pending')", name="ck_webhook_deliveries_state"),
        sa.CheckConstraint(
            "type IN ('training_job.cancelled', 'training_job.failed', 'training_job.succeeded')",
            name="ck_webhook_deliveries_type",
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id_webhooks", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name="fk_webhook_deliveries_job_id_training_jobs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
    )
    op.create_index("ix_webhook_deliveries_webhook_id_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index("ix_webhook_deliveries_job_id", "webhook_deliveries", ["job_id"])
    op.create_index("ix_webhook_deliveries_entry", "webhook_deliveries", ["entry"], unique=True)
    op.create_index(
        "ix_webhook_deliveries_pending",
        "webhook_deliveries",
        ["queued_at"],
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
    op.create_table(
        "webhook_attempts",
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("obstacle", sa.Text(), nullable=True),
        sa.CheckConstraint("(status IS NULL) <> (obstacle IS NULL)", name="ck_webhook_attempts_outcome"),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["webhook_deliveries.id"],
            name="fk_webhook_attempts_delivery_id_webhook_deliveries",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", "number", name="pk_webhook_attempts"),
    )


def downgrade() -> None:
    op.drop_table("webhook_attempts")
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
    op.drop_index("ix_training_jobs_progress_kept", table_name="training_jobs")
    op.drop_column("training_jobs", "progress_kept")
