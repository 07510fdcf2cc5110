"""Versions that no job made here: they were imported."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_01_imported_versions"
down_revision: str | None = "2026_11_30_annotations"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    with op.batch_alter_table("model_versions") as versions:
        versions.alter_column("job_id", existing_type=sa.Uuid(), nullable=True)


def downgrade() -> None:
    # What hangs on them goes first: on SQLite no foreign key is followed while tables are rebuilt.
    for table in ("relevance_vectors", "posteriors", "version_tags", "model_aliases"):
        op.execute(f"DELETE FROM {table} WHERE version_id IN (SELECT id FROM model_versions WHERE job_id IS NULL)")
    op.execute("DELETE FROM model_versions WHERE job_id IS NULL")
    with op.batch_alter_table("model_versions") as versions:
        versions.alter_column("job_id", existing_type=sa.Uuid(), nullable=False)
