"""Annotations of models and versions, and which version was the newest when one was recorded."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_30_annotations"
down_revision: str | None = "2026_11_29_aliases"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("models", sa.Column("description", sa.Text(), nullable=True))
    op.add_column("model_versions", sa.Column("description", sa.Text(), nullable=True))
    op.add_column("model_versions", sa.Column("parent", sa.Integer(), nullable=True))
    op.create_table(
        "model_tags",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_model_tags_model_id_models"),
        sa.PrimaryKeyConstraint("model_id", "name", name="pk_model_tags"),
    )
    op.create_index("ix_model_tags_name_value", "model_tags", ["name", "value"])
    op.create_table(
        "version_tags",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["model_versions.id"],
            name="fk_version_tags_version_id_model_versions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "name", name="pk_version_tags"),
    )
    op.create_index("ix_version_tags_name_value", "version_tags", ["name", "value"])


def downgrade() -> None:
    op.drop_table("version_tags")
    op.drop_table("model_tags")
    op.drop_column("model_versions", "parent")
    op.drop_column("model_versions", "description")
    op.drop_column("models", "description")
