"""Recorded predictions with their outcomes, charts and alarms; webhook messages about alarms."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_16_outcomes"
down_revision: str | None = "2026_12_15_trace_contexts"
branch_labels: str | None = None
depends_on: str | None = None
# Earlier releases can't read webhooks that subscribe to the new events.
oldest_compatible: str | None = "2026_12_16_outcomes"

TYPES = (
    *(
        f"{noun}.{state}"
        for noun in ("batch_prediction", "evaluation", "promotion", "training_job")
        for state in ("cancelled", "failed", "succeeded")
    ),
    "webhook.test",
)
ALARMS = ("model_alarm.cleared", "model_alarm.raised")
TYPE_CHECK = "ck_webhook_deliveries_type"
ALARM_KEY = "fk_webhook_deliveries_alarm_id_model_alarms"


def upgrade() -> None:
    with op.batch_alter_table("models") as models:
        models.add_column(sa.Column("record_share", sa.Double(), nullable=False, server_default="0"))
        models.create_check_constraint(op.f("ck_models_record_share"), "record_share BETWEEN 0 AND 1")
    op.create_table(
        "recorded_predictions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("row_id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        _of_version("recorded_predictions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recorded_predictions")),
        sa.UniqueConstraint("version_id", "row_id", name=op.f("uq_recorded_predictions_version_id_row_id")),
    )
    op.create_table(
        "outcome_hours",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("outcomes", "excluded")),
        *(sa.Column(name, sa.Double(), nullable=False) for name in ("log_score", "expected_log_score")),
        *(sa.Column(f"inside_{level}", sa.Integer(), nullable=False) for level in (50, 80, 95)),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        _of_version("outcome_hours"),
        sa.PrimaryKeyConstraint("version_id", "hour", name=op.f("pk_outcome_hours")),
    )
    op.create_index(op.f("ix_outcome_hours_version_id_day"), "outcome_hours", ["version_id", "day"])
    op.create_index(op.f("ix_outcome_hours_hour"), "outcome_hours", ["hour"])
    _create_alarms()
    op.create_table(
        "outcome_charts",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("statistic", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("observed", sa.Double(), nullable=False),
        sa.Column("expected", sa.Double(), nullable=False),
        sa.Column("alarm_id", sa.Uuid(), nullable=True),
        _of_version("outcome_charts"),
        sa.ForeignKeyConstraint(
            ["alarm_id"],
            ["model_alarms.id"],
            name=op.f("fk_outcome_charts_alarm_id_model_alarms"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "statistic", "direction", name=op.f("pk_outcome_charts")),
    )
    with op.batch_alter_table("webhook_deliveries") as deliveries:
        deliveries.add_column(sa.Column("alarm_id", sa.Uuid(), nullable=True))
        deliveries.create_foreign_key(op.f(ALARM_KEY), "model_alarms", ["alarm_id"], ["id"], ondelete="CASCADE")
        deliveries.drop_constraint(op.f(TYPE_CHECK), type_="check")
        deliveries.create_check_constraint(op.f(TYPE_CHECK), _one_of(*TYPES, *ALARMS))
    op.create_index(op.f("ix_webhook_deliveries_alarm_id"), "webhook_deliveries", ["alarm_id"])


def downgrade() -> None:
    about_alarms = f"SELECT id FROM webhook_deliveries WHERE {_one_of(*ALARMS)}"
    op.execute(f"DELETE FROM webhook_attempts WHERE delivery_id IN ({about_alarms})")
    op.execute(f"DELETE FROM webhook_deliveries WHERE {_one_of(*ALARMS)}")
    op.drop_index(op.f("ix_webhook_deliveries_alarm_id"), "webhook_deliveries")
    with op.batch_alter_table("webhook_deliveries") as deliveries:
        deliveries.drop_constraint(op.f(TYPE_CHECK), type_="check")
        deliveries.create_check_constraint(op.f(TYPE_CHECK), _one_of(*TYPES))
        deliveries.drop_constraint(op.f(ALARM_KEY), type_="foreignkey")
        deliveries.drop_column("alarm_id")
    for table in ("outcome_charts", "model_alarms", "outcome_hours", "recorded_predictions"):
        op.drop_table(table)
    with op.batch_alter_table("models") as models:
        models.drop_constraint(op.f("ck_models_record_share"), type_="check")
        models.drop_column("record_share")


def _create_alarms() -> None:
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
        sa.Column("cleared_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "statistic IN ('accuracy', 'coverage', 'log_score')", name=op.f("ck_model_alarms_statistic")
        ),
        sa.CheckConstraint("direction IN ('higher', 'lower')", name=op.f("ck_model_alarms_direction")),
        _of_version("model_alarms"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_alarms")),
    )
    op.create_index(op.f("ix_model_alarms_version_id_id"), "model_alarms", ["version_id", "id"])
    is_open = sa.text("cleared_at IS NULL")
    op.create_index(
        "ix_model_alarms_open", "model_alarms", ["version_id"], sqlite_where=is_open, postgresql_where=is_open
    )


def _of_version(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_version_id_model_versions")
    return sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=name, ondelete="CASCADE")


def _one_of(*types: str) -> str:
    return f"type IN ({', '.join(repr(one) for one in sorted(types))})"
