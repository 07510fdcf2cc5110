"""All tables of release 1.0.0."""

from typing import TypedDict

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

oldest_compatible: str | None = None


class Partial(TypedDict):
    """The condition on rows that an index has, for both databases."""

    sqlite_where: sa.TextClause
    postgresql_where: sa.TextClause


def upgrade() -> None:
    _create_accounts()
    _create_datasets()
    _create_jobs()
    _create_models()
    _create_outcomes()
    _create_webhooks()


def downgrade() -> None:
    for table in (
        "webhook_attempts",
        "webhook_deliveries",
        "webhooks",
        "outcome_charts",
        "model_alarms",
        "outcome_hours",
        "recorded_predictions",
        "model_aliases",
        "alias_moves",
        "relevance_vectors",
        "posteriors",
        "version_tags",
        "model_versions",
        "model_tags",
        "models",
        "prediction_pieces",
        "prediction_results",
        "api_processes",
        "workers",
        "job_totals",
        "job_changes",
        "job_holds",
        "job_checkpoints",
        "job_progress",
        "job_transitions",
        "jobs",
        "dataset_blocks",
        "datasets",
        "audit_entries",
        "audit_chains",
        "request_keys",
        "rate_demands",
        "owner_limits",
        "invitations",
        "members",
        "sessions",
        "api_keys",
    ):
        op.drop_table(table)


def _create_accounts() -> None:
    """Create the tables of API keys, sessions, members, limits, idempotency keys and the audit."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("made_by", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    op.create_index(op.f("ix_api_keys_created_at"), "api_keys", ["created_at"])
    op.create_index(op.f("ix_api_keys_digest"), "api_keys", ["digest"], unique=True)
    op.create_index(op.f("ix_api_keys_expires_at"), "api_keys", ["expires_at"])
    op.create_index(op.f("ix_api_keys_owner_id"), "api_keys", ["owner", "id"])
    op.create_index(op.f("ix_api_keys_owner_made_by"), "api_keys", ["owner", "made_by"])
    op.create_index(op.f("ix_api_keys_revoked_at"), "api_keys", ["revoked_at"])

    op.create_table(
        "sessions",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Uuid()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_ended", sa.Boolean(), nullable=False),
        sa.Column("project", sa.Text()),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name=op.f("fk_sessions_key_id_api_keys"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_changed_at"), "sessions", ["changed_at"])
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"])
    op.create_index(op.f("ix_sessions_owner_key_id_created_at"), "sessions", ["owner", "key_id", "created_at"])

    op.create_table(
        "members",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "subject", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_subject_owner"), "members", ["subject", "owner"])

    op.create_table(
        "invitations",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "subject", name=op.f("pk_invitations")),
    )
    op.create_index(op.f("ix_invitations_subject_owner"), "invitations", ["subject", "owner"])

    op.create_table(
        "owner_limits",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_owner_limits")),
    )

    op.create_table(
        "rate_demands",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("process", sa.Uuid(), nullable=False),
        sa.Column("requests", sa.Double(), nullable=False),
        sa.Column("rows", sa.Double(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "process", name=op.f("pk_rate_demands")),
    )
    op.create_index(op.f("ix_rate_demands_process"), "rate_demands", ["process"])
    op.create_index(op.f("ix_rate_demands_published_at"), "rate_demands", ["published_at"])

    op.create_table(
        "request_keys",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("holder", sa.Uuid()),
        sa.Column("status", sa.Integer()),
        sa.Column("headers", sa.Text()),
        sa.Column("content", sa.LargeBinary()),
        sa.CheckConstraint(
            "(status IS NULL) = (headers IS NULL) AND (status IS NULL) = (content IS NULL)",
            name=op.f("ck_request_keys_response"),
        ),
        sa.CheckConstraint("status IS NOT NULL OR holder IS NOT NULL", name=op.f("ck_request_keys_holder")),
        sa.PrimaryKeyConstraint("owner", "scope", "key", name=op.f("pk_request_keys")),
    )
    op.create_index(op.f("ix_request_keys_updated_at"), "request_keys", ["updated_at"])

    op.create_table(
        "audit_chains",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expired", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_audit_chains")),
    )

    op.create_table(
        "audit_entries",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text()),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column("user_agent", sa.Text()),
        sa.Column("request_id", sa.Text()),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "number", name=op.f("pk_audit_entries")),
    )
    op.create_index(op.f("ix_audit_entries_owner_action_number"), "audit_entries", ["owner", "action", "number"])
    op.create_index(op.f("ix_audit_entries_owner_actor_id_number"), "audit_entries", ["owner", "actor_id", "number"])
    op.create_index(op.f("ix_audit_entries_owner_at"), "audit_entries", ["owner", "at"])
    op.create_index(op.f("ix_audit_entries_owner_resource_number"), "audit_entries", ["owner", "resource", "number"])


def _create_datasets() -> None:
    """Create the tables of datasets."""
    op.create_table(
        "datasets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rows", sa.Integer()),
        sa.Column("digest", sa.Text()),
        sa.Column("columns", sa.Text()),
        sa.Column("height", sa.Integer()),
        sa.Column("width", sa.Integer()),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state <> 'ready' OR (rows IS NOT NULL AND digest IS NOT NULL AND columns IS NOT NULL)",
            name=op.f("ck_datasets_complete"),
        ),
        sa.CheckConstraint("state IN ('deleted', 'ready', 'uploading')", name=op.f("ck_datasets_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
    )
    op.create_index(op.f("ix_datasets_owner_id"), "datasets", ["owner", "id"])

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


def _create_jobs() -> None:
    """Create the tables of jobs, their workers, and the files of batch predictions."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dataset_id", sa.Uuid(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("for_model", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("of_version", sa.Integer()),
        sa.Column("compared_version", sa.Integer()),
        sa.Column("result", sa.Text()),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("retry_of", sa.Uuid()),
        sa.Column("submitted_by", sa.Text()),
        sa.Column("submitted_with", sa.Text()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True)),
        sa.Column("progress", sa.Text()),
        sa.Column("model", sa.Text()),
        sa.Column("version", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("interrupted", sa.Boolean(), nullable=False),
        sa.Column("running_seconds", sa.Double(), nullable=False),
        sa.Column("last_words", sa.Text()),
        sa.Column("traceparent", sa.Text()),
        sa.Column("tracestate", sa.Text()),
        sa.Column("attempt_traceparent", sa.Text()),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("progress_kept", sa.Boolean(), nullable=False),
        sa.Column("expected_cost", sa.Text()),
        sa.Column("attempt_share", sa.Double()),
        sa.CheckConstraint("(kind = 'training') = (of_version IS NULL)", name=op.f("ck_jobs_of_version")),
        sa.CheckConstraint(
            "(result IS NOT NULL) = (state = 'succeeded' AND kind <> 'training')", name=op.f("ck_jobs_result")
        ),
        sa.CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name=op.f("ck_jobs_failed")),
        sa.CheckConstraint(
            "(state IN ('cancelled', 'failed', 'succeeded')) = (finished_at IS NOT NULL)",
            name=op.f("ck_jobs_finished"),
        ),
        sa.CheckConstraint(
            "(version IS NULL OR state = 'succeeded') AND (version IS NULL) = (model IS NULL)",
            name=op.f("ck_jobs_succeeded"),
        ),
        sa.CheckConstraint("kind IN ('evaluation', 'prediction', 'promotion', 'training')", name=op.f("ck_jobs_kind")),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'queued', 'running', 'succeeded')", name=op.f("ck_jobs_state")
        ),
        sa.CheckConstraint("attempt >= 0 AND events >= 0", name=op.f("ck_jobs_counts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_dataset_id"), "jobs", ["dataset_id"])
    op.create_index(op.f("ix_jobs_owner_change_id"), "jobs", ["owner", "change", "id"])
    op.create_index(op.f("ix_jobs_owner_id"), "jobs", ["owner", "id"])
    op.create_index(op.f("ix_jobs_owner_kind_id"), "jobs", ["owner", "kind", "id"])
    op.create_index(op.f("ix_jobs_owner_kind_state"), "jobs", ["owner", "kind", "state"])
    op.create_index(op.f("ix_jobs_owner_state_id"), "jobs", ["owner", "state", "id"])
    op.create_index(
        op.f("ix_jobs_progress_kept"),
        "jobs",
        ["finished_at"],
        **_where("progress_kept AND finished_at IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_jobs_scoring"),
        "jobs",
        ["owner", "for_model", "of_version", "id"],
        **_where("of_version IS NOT NULL"),
    )
    op.create_index(op.f("ix_jobs_state"), "jobs", ["state"])
    op.create_index(
        op.f("ix_jobs_unfinished"),
        "jobs",
        ["owner", "finished_at", "for_model"],
        **_where("finished_at IS NULL"),
    )

    op.create_table(
        "job_transitions",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("resumed_attempt", sa.Integer()),
        sa.Column("resumed_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'queued', 'running', 'succeeded')", name=op.f("ck_job_transitions_state")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_transitions_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_transitions")),
    )

    op.create_table(
        "job_progress",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_job_progress_job_id_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_job_progress")),
    )

    op.create_table(
        "job_checkpoints",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_checkpoints_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_checkpoints")),
    )

    op.create_table(
        "job_holds",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('dataset', 'model', 'version')", name=op.f("ck_job_holds_kind")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_job_holds_job_id_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "kind", "resource", name=op.f("pk_job_holds")),
    )
    op.create_index(op.f("ix_job_holds_owner_kind_resource"), "job_holds", ["owner", "kind", "resource"])

    op.create_table(
        "job_changes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_changes")),
    )

    op.create_table(
        "job_totals",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("bound", sa.Double(), autoincrement=False, nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "state", "bound", name=op.f("pk_job_totals")),
    )

    op.create_table(
        "workers",
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True)),
        sa.Column("speed", sa.Double()),
        sa.Column("release", sa.Text()),
        sa.Column("revision", sa.Text()),
        sa.Column("slots", sa.Integer()),
        sa.Column("running", sa.Integer()),
        sa.Column("busy_seconds", sa.Double()),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_workers")),
    )

    op.create_table(
        "api_processes",
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_api_processes")),
    )

    op.create_table(
        "prediction_results",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.Column("averaged", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.CheckConstraint("rows >= 0 AND faulty >= 0 AND size >= 0", name=op.f("ck_prediction_results_counts")),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["jobs.id"],
            name=op.f("fk_prediction_results_job_id_jobs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_prediction_results")),
    )

    op.create_table(
        "prediction_pieces",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.Column("first_byte", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("layer IN ('file', 'rows')", name=op.f("ck_prediction_pieces_layer")),
        sa.CheckConstraint("first_byte >= 0", name=op.f("ck_prediction_pieces_counts")),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["prediction_results.job_id"],
            name=op.f("fk_prediction_pieces_job_id_prediction_results"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "layer", "first_byte", name=op.f("pk_prediction_pieces")),
    )


def _create_models() -> None:
    """Create the tables of models, their versions and aliases."""
    op.create_table(
        "models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("record_share", sa.Double(), nullable=False),
        sa.CheckConstraint("last_number >= 0", name=op.f("ck_models_counts")),
        sa.CheckConstraint("record_share BETWEEN 0 AND 1", name=op.f("ck_models_record_share")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("owner", "name", name=op.f("uq_models_owner_name")),
    )
    op.create_index(op.f("ix_models_owner_id"), "models", ["owner", "id"])

    op.create_table(
        "model_tags",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_tags_model_id_models")),
        sa.PrimaryKeyConstraint("model_id", "name", name=op.f("pk_model_tags")),
    )
    op.create_index(op.f("ix_model_tags_name_value"), "model_tags", ["name", "value"])

    op.create_table(
        "model_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("parent", sa.Integer()),
        sa.Column("diagnostics", sa.Text()),
        sa.CheckConstraint("number >= 1", name=op.f("ck_model_versions_counts")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_model_versions_job_id_jobs")),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_versions_model_id_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_versions")),
        sa.UniqueConstraint("job_id", name=op.f("uq_model_versions_job_id")),
        sa.UniqueConstraint("model_id", "number", name=op.f("uq_model_versions_model_id_number")),
    )

    op.create_table(
        "version_tags",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_version_tags_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "name", name=op.f("pk_version_tags")),
    )
    op.create_index(op.f("ix_version_tags_name_value"), "version_tags", ["name", "value"])

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
        sa.Column("dataset_row", sa.Integer()),
        sa.Column("inputs", sa.Text()),
        sa.Column("input", sa.Text()),
        sa.Column("moved", sa.Boolean(), nullable=False),
        sa.Column("weight_mean", sa.Double(), nullable=False),
        sa.Column("weight_sd", sa.Double(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("gamma", sa.Double(), nullable=False),
        sa.Column("weight_means", sa.Text()),
        sa.Column("shape", sa.Text()),
        sa.Column("phase", sa.Double()),
        sa.Column("member", sa.Integer()),
        sa.Column("function", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_relevance_vectors_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "number", name=op.f("pk_relevance_vectors")),
    )

    op.create_table(
        "alias_moves",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("from_version", sa.Integer()),
        sa.Column("to_version", sa.Integer()),
        sa.Column("reason", sa.Text()),
        sa.CheckConstraint("from_version IS NOT NULL OR to_version IS NOT NULL", name=op.f("ck_alias_moves_versions")),
        sa.CheckConstraint("number >= 1", name=op.f("ck_alias_moves_counts")),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_alias_moves_model_id_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alias_moves")),
        sa.UniqueConstraint("model_id", "alias", "number", name=op.f("uq_alias_moves_model_id_alias_number")),
    )

    op.create_table(
        "model_aliases",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("move_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_model_aliases_model_id_models")),
        sa.ForeignKeyConstraint(["move_id"], ["alias_moves.id"], name=op.f("fk_model_aliases_move_id_alias_moves")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["model_versions.id"], name=op.f("fk_model_aliases_version_id_model_versions")
        ),
        sa.PrimaryKeyConstraint("model_id", "name", name=op.f("pk_model_aliases")),
    )
    op.create_index(op.f("ix_model_aliases_move_id"), "model_aliases", ["move_id"], unique=True)
    op.create_index(op.f("ix_model_aliases_version_id"), "model_aliases", ["version_id"])


def _create_outcomes() -> None:
    """Create the tables of recorded predictions, their outcomes and alarms."""
    op.create_table(
        "recorded_predictions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("row_id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text()),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_recorded_predictions_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recorded_predictions")),
        sa.UniqueConstraint("version_id", "row_id", name=op.f("uq_recorded_predictions_version_id_row_id")),
    )

    op.create_table(
        "outcome_hours",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.Integer(), nullable=False),
        sa.Column("log_score", sa.Double(), nullable=False),
        sa.Column("expected_log_score", sa.Double(), nullable=False),
        sa.Column("inside_50", sa.Integer(), nullable=False),
        sa.Column("inside_80", sa.Integer(), nullable=False),
        sa.Column("inside_95", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_outcome_hours_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "hour", name=op.f("pk_outcome_hours")),
    )
    op.create_index(op.f("ix_outcome_hours_hour"), "outcome_hours", ["hour"])
    op.create_index(op.f("ix_outcome_hours_version_id_day"), "outcome_hours", ["version_id", "day"])

    op.create_table(
        "model_alarms",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("statistic", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("raised_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("observed", sa.Double(), nullable=False),
        sa.Column("expected", sa.Double(), nullable=False),
        sa.Column("cleared_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("direction IN ('higher', 'lower')", name=op.f("ck_model_alarms_direction")),
        sa.CheckConstraint(
            "statistic IN ('accuracy', 'coverage', 'log_score')", name=op.f("ck_model_alarms_statistic")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_model_alarms_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_alarms")),
    )
    op.create_index(op.f("ix_model_alarms_open"), "model_alarms", ["version_id"], **_where("cleared_at IS NULL"))
    op.create_index(op.f("ix_model_alarms_version_id_id"), "model_alarms", ["version_id", "id"])

    op.create_table(
        "outcome_charts",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("statistic", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True)),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("observed", sa.Double(), nullable=False),
        sa.Column("expected", sa.Double(), nullable=False),
        sa.Column("alarm_id", sa.Uuid()),
        sa.ForeignKeyConstraint(
            ["alarm_id"], ["model_alarms.id"], name=op.f("fk_outcome_charts_alarm_id_model_alarms"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name=op.f("fk_outcome_charts_version_id_model_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "statistic", "direction", name=op.f("pk_outcome_charts")),
    )


def _create_webhooks() -> None:
    """Create the tables of webhooks and their deliveries."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_owner_id"), "webhooks", ["owner", "id"])

    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Uuid()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("entry", sa.Uuid(), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delay", sa.Double(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("traceparent", sa.Text()),
        sa.Column("alarm_id", sa.Uuid()),
        sa.Column("tracestate", sa.Text()),
        sa.CheckConstraint("state IN ('delivered', 'failed', 'pending')", name=op.f("ck_webhook_deliveries_state")),
        sa.CheckConstraint(
            "type IN ('batch_prediction.cancelled', 'batch_prediction.failed', 'batch_prediction.succeeded', "
            "'evaluation.cancelled', 'evaluation.failed', 'evaluation.succeeded', "
            "'model_alarm.cleared', 'model_alarm.raised', "
            "'promotion.cancelled', 'promotion.failed', 'promotion.succeeded', "
            "'training_job.cancelled', 'training_job.failed', 'training_job.succeeded', 'webhook.test')",
            name=op.f("ck_webhook_deliveries_type"),
        ),
        sa.ForeignKeyConstraint(
            ["alarm_id"],
            ["model_alarms.id"],
            name=op.f("fk_webhook_deliveries_alarm_id_model_alarms"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["jobs.id"],
            name=op.f("fk_webhook_deliveries_job_id_jobs"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries_webhook_id_webhooks"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
    )
    op.create_index(op.f("ix_webhook_deliveries_alarm_id"), "webhook_deliveries", ["alarm_id"])
    op.create_index(op.f("ix_webhook_deliveries_entry"), "webhook_deliveries", ["entry"], unique=True)
    op.create_index(op.f("ix_webhook_deliveries_job_id"), "webhook_deliveries", ["job_id"])
    op.create_index(
        op.f("ix_webhook_deliveries_pending"), "webhook_deliveries", ["queued_at"], **_where("state = 'pending'")
    )
    op.create_index(op.f("ix_webhook_deliveries_webhook_id_id"), "webhook_deliveries", ["webhook_id", "id"])

    op.create_table(
        "webhook_attempts",
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.CheckConstraint("(status IS NULL) <> (error IS NULL)", name=op.f("ck_webhook_attempts_outcome")),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["webhook_deliveries.id"],
            name=op.f("fk_webhook_attempts_delivery_id_webhook_deliveries"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", "number", name=op.f("pk_webhook_attempts")),
    )


def _where(condition: str) -> Partial:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
