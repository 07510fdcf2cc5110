"""The sizes of images of datasets: their lines and pixels."""

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_25_images"
down_revision: str | None = "2026_11_24_function_shapes"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("datasets", sa.Column("height", sa.Integer(), nullable=True))
    op.add_column("datasets", sa.Column("width", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("datasets", "width")
    op.drop_column("datasets", "height")
