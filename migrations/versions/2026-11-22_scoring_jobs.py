"""Jobs of other kinds than trainings: those that score versions, of which model and number, and what came of them."""

import json

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_22_scoring_jobs"
down_revision: str | None = "2026_12_01_imported_versions"
branch_labels: str | None = None
depends_on: str | None = None

SCORING = sa.text("of_version IS NOT NULL")
KINDS = ("batch_prediction", "evaluation", "promotion", "training_job")
STATES = ("cancelled", "failed", "succeeded")


def types(*kinds: str) -> str:
    """The condition that a delivery is of the end of a job of these kinds."""
    return f"type IN ({', '.join(repr(f'{kind}.{state}') for kind in kinds for state in STATES)})"


def upgrade() -> None:
    op.drop_index("ix_training_jobs_owner_id", table_name="training_jobs")
    with op.batch_alter_table("training_jobs") as jobs:
        jobs.add_column(sa.Column("kind", sa.Text(), server_default="training", nullable=False))
        jobs.add_column(sa.Column("of_version", sa.Integer(), nullable=True))
        jobs.add_column(sa.Column("rival_version", sa.Integer(), nullable=True))
        jobs.add_column(sa.Column("result", sa.Text(), nullable=True))
        jobs.create_check_constraint(
            op.f("ck_training_jobs_kind"), "kind IN ('evaluation', 'prediction', 'promotion', 'training')"
        )
        jobs.create_check_constraint(op.f("ck_training_jobs_of_version"), "(kind = 'training') = (of_version IS NULL)")
        jobs.create_check_constraint(
            op.f("ck_training_jobs_result"), "(result IS NOT NULL) = (state = 'succeeded' AND kind <> 'training')"
        )
    op.create_index("ix_training_jobs_owner_kind_id", "training_jobs", ["owner", "kind", "id"])
    op.create_index(
        "ix_training_jobs_scoring",
        "training_jobs",
        ["owner", "for_model", "of_version", "id"],
        sqlite_where=SCORING,
        postgresql_where=SCORING,
    )
    with op.batch_alter_table("webhook_deliveries") as deliveries:
        # Under the name that the naming convention made of the one that it was given.
        deliveries.drop_constraint("ck_webhook_deliveries_type", type_="check")
        deliveries.create_check_constraint(op.f("ck_webhook_deliveries_type"), types(*KINDS))


def downgrade() -> None:
    # What hangs on them goes first: on SQLite no foreign key is followed while tables are rebuilt.
    scoring = "(SELECT id FROM training_jobs WHERE kind <> 'training')"
    deliveries = f"(SELECT id FROM webhook_deliveries WHERE job_id IN {scoring})"
    op.execute(f"DELETE FROM webhook_attempts WHERE delivery_id IN {deliveries}")
    for table in ("webhook_deliveries", "job_transitions", "job_progress", "job_checkpoints"):
        op.execute(f"DELETE FROM {table} WHERE job_id IN {scoring}")
    op.execute("DELETE FROM training_jobs WHERE kind <> 'training'")
    _forget_ends_of(("evaluation.", "batch_prediction.", "promotion."))
    with op.batch_alter_table("webhook_deliveries") as altered:
        altered.drop_constraint(op.f("ck_webhook_deliveries_type"), type_="check")
        altered.create_check_constraint("ck_webhook_deliveries_type", types("training_job"))
    op.drop_index("ix_training_jobs_scoring", table_name="training_jobs")
    op.drop_index("ix_training_jobs_owner_kind_id", table_name="training_jobs")
    with op.batch_alter_table("training_jobs") as jobs:
        for name in ("result", "of_version", "kind"):
            jobs.drop_constraint(op.f(f"ck_training_jobs_{name}"), type_="check")
        for name in ("result", "rival_version", "of_version", "kind"):
            jobs.drop_column(name)
    op.create_index("ix_training_jobs_owner_id", "training_jobs", ["owner", "id"])


def _forget_ends_of(kinds: tuple[str, ...]) -> None:
    """Webhooks get the ends of other jobs alone."""
    hooks = sa.table("webhooks", sa.column("id"), sa.column("events"))
    connection = op.get_bind()
    for hook, events in connection.execute(sa.select(hooks.c.id, hooks.c.events)).all():
        kept = [event for event in json.loads(events) if not event.startswith(kinds)]
        connection.execute(sa.update(hooks).where(hooks.c.id == hook).values(events=json.dumps(kept)))
