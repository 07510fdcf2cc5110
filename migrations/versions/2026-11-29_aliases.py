"""Aliases of versions, and how they moved."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_29_aliases"
down_revision: str | None = "2026_11_28_webhooks"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "alias_moves",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("from_version", sa.Integer(), nullable=True),
        sa.Column("to_version", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint("number >= 1", name="ck_alias_moves_counts"),
        sa.CheckConstraint("from_version IS NOT NULL OR to_version IS NOT NULL", name="ck_alias_moves_versions"),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_alias_moves_model_id_models"),
        sa.PrimaryKeyConstraint("id", name="pk_alias_moves"),
        sa.UniqueConstraint("model_id", "alias", "number", name="uq_alias_moves_model_id_alias_number"),
    )
    op.create_table(
        "model_aliases",
        sa.Column("model_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("move_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_model_aliases_model_id_models"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["model_versions.id"], name="fk_model_aliases_version_id_model_versions"
        ),
        sa.ForeignKeyConstraint(["move_id"], ["alias_moves.id"], name="fk_model_aliases_move_id_alias_moves"),
        sa.PrimaryKeyConstraint("model_id", "name", name="pk_model_aliases"),
    )
    op.create_index("ix_model_aliases_version_id", "model_aliases", ["version_id"])
    op.create_index("ix_model_aliases_move_id", "model_aliases", ["move_id"], unique=True)


def downgrade() -> None:
    op.drop_table("model_aliases")
    op.drop_table("alias_moves")
