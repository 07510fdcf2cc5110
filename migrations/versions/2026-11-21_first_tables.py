"""The first tables: datasets, training jobs, models, workers."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_21_first_tables"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "datasets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("columns", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state <> 'ready' OR (rows IS NOT NULL AND digest IS NOT NULL AND columns IS NOT NULL)",
            name=op.f("ck_datasets_complete"),
        ),
        sa.CheckConstraint("state IN ('deleted', 'ready', 'uploading')", name=op.f("ck_datasets_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
    )
    op.create_index(op.f("ix_datasets_owner_id"), "datasets", ["owner", "id"])

    op.create_table(
        "models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.CheckConstraint("last_number >= 0", name=op.f("ck_models_counts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("owner", "name", name=op.f("uq_models_owner_name")),
    )
    op.create_index(op.f("ix_models_owner_id"), "models", ["owner", "id"])

    op.create_table(
        "training_jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dataset_id", sa.Uuid(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name=op.f("ck_training_jobs_failed")),
        sa.CheckConstraint(
            "(version IS NULL OR state = 'succeeded') AND (version IS NULL) = (model IS NULL)",
            name=op.f("ck_training_jobs_succeeded"),
        ),
        sa.CheckConstraint(
            "(state IN ('cancelled', 'failed', 'succeeded')) = (finished_at IS NOT NULL)",
            name=op.f("ck_training_jobs_finished"),
        ),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'queued', 'running', 'succeeded')", name=op.f("ck_training_jobs_state")
        ),
        sa.CheckConstraint("attempt >= 0 AND events >= 0", name=op.f("ck_training_jobs_counts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_training_jobs")),
    )
    op.create_index(op.f("ix_training_jobs_dataset_id"), "training_jobs", ["dataset_id"])
    op.create_index(op.f("ix_training_jobs_owner_id"), "training_jobs", ["owner", "id"])
    op.create_index(op.f("ix_training_jobs_state"), "training_jobs", ["state"])

    op.create_table(
        "workers",
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_workers")),
    )
    op.create_table(
        "dataset_blocks",
        sa.Column("dataset_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first_row", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("number >= 0 AND first_row >= 0 AND rows > 0", name=op.f("ck_dataset_blocks_counts")),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name=op.f("fk_dataset_blocks_dataset_id_datasets"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_id", "number", name=op.f("pk_dataset_blocks")),
        sa.UniqueConstraint("dataset_id", "first_row", name=op.f("uq_dataset_blocks_dataset_id_first_row")),
    )
    op.create_table(
        "job_progress",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name=op.f("fk_job_progress_job_id_training_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_progress")),
    )
    op.create_table(
        "job_transitions",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'queued', 'running', 'succeeded')", name=op.f("ck_job_transitions_state")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name=op.f("fk_job_transitions_job_id_training_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_transitions")),
    )
    op.create_table(
        "model_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_model_versions_counts")),
        sa.ForeignKeyConstraint(["job_id"], ["training_jobs.id"], name=op.f("fk_model_versions_job_id_training_jobs")),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_versions_model_id_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_versions")),
        sa.UniqueConstraint("job_id", name=op.f("uq_model_versions_job_id")),
        sa.UniqueConstraint("model_id", "number", name=op.f("uq_model_versions_model_id_number")),
    )
    op.create_table(
        "posteriors",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_posteriors_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_posteriors")),
    )
    op.create_table(
        "relevance_vectors",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("dataset_row", sa.Integer(), nullable=True),
        sa.Column("inputs", sa.Text(), nullable=True),
        sa.Column("weight_mean", sa.Double(), nullable=False),
        sa.Column("weight_sd", sa.Double(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("gamma", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_relevance_vectors_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "number", name=op.f("pk_relevance_vectors")),
    )


def downgrade() -> None:
    op.drop_table("relevance_vectors")
    op.drop_table("posteriors")
    op.drop_table("model_versions")
    op.drop_table("job_transitions")
    op.drop_table("job_progress")
    op.drop_table("dataset_blocks")
    op.drop_table("workers")
    op.drop_index(op.f("ix_training_jobs_state"), "training_jobs")
    op.drop_index(op.f("ix_training_jobs_owner_id"), "training_jobs")
    op.drop_index(op.f("ix_training_jobs_dataset_id"), "training_jobs")

    op.drop_table("training_jobs")
    op.drop_index(op.f("ix_models_owner_id"), "models")

    op.drop_table("models")
    op.drop_index(op.f("ix_datasets_owner_id"), "datasets")

    op.drop_table("datasets")
