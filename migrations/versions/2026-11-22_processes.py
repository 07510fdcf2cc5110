"""Versions under a Gaussian process prior: widths by input, optimised inducing points, inputs as functions."""

import json
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision: str = "2026_11_22_processes"
down_revision: str | None = "2026_11_21_first_tables"
branch_labels: str | None = None
depends_on: str | None = None

VERSIONS = sa.table("model_versions", sa.column("id", sa.Uuid()), sa.column("report", sa.Text()))
ADDED = ("warps", "process_sd", "last_gain", "next_gain")


def upgrade() -> None:
    op.add_column("relevance_vectors", sa.Column("input", sa.Text(), nullable=True))
    op.add_column("relevance_vectors", sa.Column("moved", sa.Boolean(), nullable=False, server_default=sa.false()))
    _rewrite(_by_input)


def downgrade() -> None:
    _rewrite(_by_place)
    op.drop_column("relevance_vectors", "moved")
    op.drop_column("relevance_vectors", "input")


def _rewrite(change: Callable[[dict[str, object], list[object]], None]) -> None:
    connection = op.get_bind()
    for version_id, text in connection.execute(sa.select(VERSIONS.c.id, VERSIONS.c.report)).all():
        report = json.loads(text)
        change(report, report["widths"])
        written = json.dumps(report, ensure_ascii=False, separators=(",", ":"))
        connection.execute(sa.update(VERSIONS).where(VERSIONS.c.id == version_id).values(report=written))


def _by_input(report: dict[str, object], widths: list[object]) -> None:
    """A width was one for all inputs."""
    report["widths"] = [{"input": None, "width": width} for width in widths]


def _by_place(report: dict[str, object], widths: list[object]) -> None:
    report["widths"] = [width["width"] for width in widths if isinstance(width, dict)]
    for name in ADDED:
        report.pop(name, None)
