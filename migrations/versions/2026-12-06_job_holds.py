"""Holds of unfinished jobs are in rows of their own."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_12_06_job_holds"
down_revision: str | None = "2026_12_05_alias_moved"
branch_labels: str | None = None
depends_on: str | None = None

JOBS = sa.table(
    "training_jobs",
    sa.column("id", sa.Uuid()),
    sa.column("owner", sa.Text()),
    sa.column("dataset_id", sa.Uuid()),
    sa.column("for_model", sa.Text()),
    sa.column("of_version", sa.Integer()),
    sa.column("rival_version", sa.Integer()),
    sa.column("finished_at", sa.DateTime(timezone=True)),
)
MODELS = sa.table("models", sa.column("id", sa.Uuid()), sa.column("owner", sa.Text()), sa.column("name", sa.Text()))
VERSIONS = sa.table(
    "model_versions", sa.column("id", sa.Uuid()), sa.column("model_id", sa.Uuid()), sa.column("number", sa.Integer())
)


def upgrade() -> None:
    holds = op.create_table(
        "job_holds",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('dataset', 'model', 'version')", name=op.f("ck_job_holds_kind")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name=op.f("fk_job_holds_job_id_training_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "kind", "resource", name=op.f("pk_job_holds")),
    )
    op.create_index(op.f("ix_job_holds_owner_kind_resource"), "job_holds", ["owner", "kind", "resource"])
    connection, rows = op.get_bind(), []
    unfinished = JOBS.c.finished_at.is_(None)
    found = sa.select(JOBS.c.id, JOBS.c.owner, JOBS.c.dataset_id, JOBS.c.for_model).where(unfinished)
    for job_id, owner, dataset_id, model in connection.execute(found):
        rows.append({"job_id": job_id, "owner": owner, "kind": "dataset", "resource": str(dataset_id)})
        rows.append({"job_id": job_id, "owner": owner, "kind": "model", "resource": model})
    scored = (
        sa.select(JOBS.c.id, JOBS.c.owner, VERSIONS.c.id)
        .join(MODELS, sa.and_(MODELS.c.owner == JOBS.c.owner, MODELS.c.name == JOBS.c.for_model))
        .join(VERSIONS, VERSIONS.c.model_id == MODELS.c.id)
        .where(unfinished, VERSIONS.c.number.in_([JOBS.c.of_version, JOBS.c.rival_version]))
    )
    for job_id, owner, version_id in connection.execute(scored):
        rows.append({"job_id": job_id, "owner": owner, "kind": "version", "resource": str(version_id)})
    op.bulk_insert(holds, rows)


def downgrade() -> None:
    op.drop_table("job_holds")
