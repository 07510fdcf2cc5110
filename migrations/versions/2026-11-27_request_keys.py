"""Idempotency keys; of jobs their priority, the job they do again, and for which model they are."""

import json

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_27_request_keys"
down_revision: str | None = "2026_11_26_checkpoints"
branch_labels: str | None = None
depends_on: str | None = None

JOBS = sa.table(
    "training_jobs", sa.column("id", sa.Uuid()), sa.column("plan", sa.Text()), sa.column("for_model", sa.Text())
)


def upgrade() -> None:
    op.create_table(
        "request_keys",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("heard_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("holder", sa.Uuid(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.Text(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint(
            "(status IS NULL) = (headers IS NULL) AND (status IS NULL) = (content IS NULL)",
            name=op.f("ck_request_keys_answer"),
        ),
        sa.CheckConstraint("status IS NOT NULL OR holder IS NOT NULL", name=op.f("ck_request_keys_holder")),
        sa.PrimaryKeyConstraint("owner", "scope", "key", name=op.f("pk_request_keys")),
    )
    op.create_index(op.f("ix_request_keys_heard_at"), "request_keys", ["heard_at"])
    op.add_column("training_jobs", sa.Column("for_model", sa.Text(), server_default="", nullable=False))
    op.add_column("training_jobs", sa.Column("priority", sa.Integer(), server_default="0", nullable=False))
    op.add_column("training_jobs", sa.Column("retry_of", sa.Uuid(), nullable=True))
    connection = op.get_bind()
    for job_id, plan in connection.execute(sa.select(JOBS.c.id, JOBS.c.plan)).all():
        named = sa.update(JOBS).where(JOBS.c.id == job_id).values(for_model=json.loads(plan)["model"])
        connection.execute(named)
    op.create_index(
        "ix_training_jobs_unfinished",
        "training_jobs",
        ["owner", "for_model"],
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_training_jobs_unfinished", "training_jobs")
    op.drop_column("training_jobs", "retry_of")
    op.drop_column("training_jobs", "priority")
    op.drop_column("training_jobs", "for_model")
    op.drop_table("request_keys")
