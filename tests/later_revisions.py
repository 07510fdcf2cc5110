"""Made-up revisions after those of this release, in a folder of their own."""

import shutil
from pathlib import Path

import pytest

from app.cli import maintenance
from app.database import migrations, revision
from app.http import process_repository
from app.jobs import statistics_repository

EXPECTING = (maintenance, migrations, process_repository, revision, statistics_repository)
"""The modules that have the revision which this release expects."""

MIGRATION = '''"""Revision {number}."""

import sqlalchemy as sa
from alembic import op

revision = {number!r}
down_revision = {before!r}
oldest_compatible = {oldest!r}


def upgrade() -> None:
    op.create_table("added_{number}", sa.Column("id", sa.Text(), primary_key=True))
    op.add_column("jobs", sa.Column("added_{number}", sa.Text()))


def downgrade() -> None:
    op.drop_column("jobs", "added_{number}")
    op.drop_table("added_{number}")
'''


def with_later_revisions(folder: Path, patch: pytest.MonkeyPatch, *oldest: str | None) -> str:
    """Let this release have a further revision for each `oldest_compatible`; return the last, which it expects.

    The first has the number after that of the last migration. Each adds a table and a column of `jobs`.
    """
    last = revision.EXPECTED
    later = folder / "migrations"
    shutil.copytree(migrations._scripts(), later, ignore=shutil.ignore_patterns("__pycache__"))
    for one in oldest:
        before, last = last, f"{int(last) + 1:04}"
        content = MIGRATION.format(number=last, before=before, oldest=one)
        (later / "versions" / f"{last}_made_up.py").write_text(content)
    patch.setattr(migrations, "_scripts", lambda: later)
    for module in EXPECTING:
        patch.setattr(module, "EXPECTED", last)
    return last
