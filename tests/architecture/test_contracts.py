"""Contracts of imports that name modules one by one name all that are there."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

SQL = re.compile(r"^(from|import) (sqlalchemy|psycopg|alembic)\b", re.MULTILINE)
KNOW_SQL = re.compile(
    r"app/(database/\w+|jobs/queue/\w+|settings|services|maintenance/administration|\w+/((\w+_)?(repository|tables)|naming|deletion|recording|retention|tagging))\.py"
)
"""The database, and of a feature its repositories, its tables and the files that repositories consist of."""


def modules(pattern: str) -> set[str]:
    return {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "app").glob(pattern)}


def test_the_tables_of_each_feature_are_protected() -> None:
    protected = {one for contract in CONTRACTS for one in contract.get("protected_modules", ())}
    assert modules("*/*tables.py") == protected


def test_routes_of_each_feature_see_no_repository() -> None:
    (contract,) = (one for one in CONTRACTS if one["id"] == "routes-see-no-repository")
    named = set(contract["source_modules"]) - {"app.*.routes"}
    assert modules("*/*_routes.py") == named
    forbidden = set(contract["forbidden_modules"])
    assert modules("*/*_repository.py") <= forbidden


def test_sql_stays_in_the_database_and_in_repositories() -> None:
    users = {path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.py") if SQL.search(path.read_text())}
    assert {user for user in users if not KNOW_SQL.fullmatch(user)} == set()
    assert "app/jobs/repository.py" in users
