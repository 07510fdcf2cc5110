"""Messages of no job's end, by which a webhook is tried."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_02_test_messages"
down_revision: str | None = "2026_11_22_scoring_jobs"
branch_labels: str | None = None
depends_on: str | None = None

TABLE = "webhook_deliveries"
KINDS = ("batch_prediction", "evaluation", "promotion", "training_job")
STATES = ("cancelled", "failed", "succeeded")
BEFORE = tuple(f"{kind}.{state}" for kind in KINDS for state in STATES)
AFTER = (*BEFORE, "webhook.test")


def upgrade() -> None:
    _change(AFTER, without_job=True)


def downgrade() -> None:
    # What hangs on them goes first: on SQLite no foreign key is followed while tables are rebuilt.
    op.execute(f"DELETE FROM webhook_attempts WHERE delivery_id IN (SELECT id FROM {TABLE} WHERE job_id IS NULL)")
    op.execute(f"DELETE FROM {TABLE} WHERE job_id IS NULL")
    _change(BEFORE, without_job=False)


def _change(types: tuple[str, ...], *, without_job: bool) -> None:
    check = op.f("ck_webhook_deliveries_type")
    with op.batch_alter_table(TABLE) as deliveries:
        deliveries.drop_constraint(check, type_="check")
        deliveries.create_check_constraint(check, f"type IN ({', '.join(map(repr, types))})")
        deliveries.alter_column("job_id", existing_type=sa.Uuid(), nullable=without_job)
