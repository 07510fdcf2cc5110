"""Differences of tables on which the release before them could not serve."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import Inspector
from sqlalchemy.engine.interfaces import ReflectedForeignKeyConstraint

HARMLESS_DELETIONS = frozenset({"CASCADE", "SET NULL"})


@dataclass(frozen=True)
class Column:
    """A column; `is_optional` where a row may be inserted without it."""

    type: str
    is_nullable: bool
    is_optional: bool


@dataclass(frozen=True)
class Table:
    """A table: its columns, the sets of columns that are unique, its checks by name, and its foreign keys."""

    columns: Mapping[str, Column]
    unique: frozenset[frozenset[str]]
    checks: Mapping[str, str]
    foreign_keys: frozenset[tuple[frozenset[str], str, str]]


def tables(connection: Connection) -> Mapping[str, Table]:
    """Return the tables of a database."""
    inspector = inspect(connection)
    return {name: _table(inspector, name) for name in inspector.get_table_names()}


def refusals(before: Mapping[str, Table], after: Mapping[str, Table]) -> Iterator[str]:
    """Yield the differences on which a release that knows the tables `before` alone would fail."""
    for name in sorted(before.keys() - after.keys()):
        yield f"{name} is dropped or renamed"
    for name in sorted(after.keys() - before.keys()):
        for columns, target, deletion in after[name].foreign_keys:
            if target in before and deletion not in HARMLESS_DELETIONS:
                yield f"{name}.{_list(columns)} keeps rows of {target} from being deleted"
    for name in sorted(before.keys() & after.keys()):
        yield from (f"{name}{refusal}" for refusal in _changes(before[name], after[name]))


def _changes(before: Table, after: Table) -> Iterator[str]:
    for column in sorted(before.columns.keys() - after.columns.keys()):
        yield f".{column} is dropped or renamed"
    for column, new in sorted(after.columns.items()):
        old = before.columns.get(column)
        if old is None and not new.is_optional:
            yield f".{column} is NOT NULL without a default"
        if old is not None and old.type != new.type:
            yield f".{column} is {new.type}, was {old.type}"
        if old is not None and old.is_nullable and not new.is_nullable:
            yield f".{column} is NOT NULL, and was not"
        if old is not None and old.is_optional and not new.is_optional and old.is_nullable == new.is_nullable:
            yield f".{column} has no default any more"
    for columns in after.unique - before.unique:
        if not any(_is_empty_in_old_rows(before, after, one) for one in columns):
            yield f".{_list(columns)} is unique, and was not"
    for name, check in sorted(after.checks.items()):
        if check != before.checks.get(name):  # more values, too: the release before may not know how to read them
            yield f" has the check {check}"
    for columns, target, _ in after.foreign_keys - before.foreign_keys:
        if not any(_is_empty_in_old_rows(before, after, one) for one in columns):
            yield f".{_list(columns)} has a new foreign key to {target}"


def _is_empty_in_old_rows(before: Table, after: Table, column: str) -> bool:
    """Return whether the rows that the release before writes have NULL in a column."""
    return column not in before.columns and after.columns[column].is_nullable


def _list(columns: frozenset[str]) -> str:
    return ",".join(sorted(columns))


def _table(inspector: Inspector, name: str) -> Table:
    unique = {frozenset(one["column_names"]) for one in inspector.get_unique_constraints(name)}
    for index in inspector.get_indexes(name):
        if index["unique"]:
            unique.add(frozenset(filter(None, index["column_names"])))
    return Table(
        {
            column["name"]: Column(
                str(column["type"]),
                column["nullable"],
                column["nullable"] or column.get("default") is not None,
            )
            for column in inspector.get_columns(name)
        },
        frozenset(unique),
        {str(check["name"]): check["sqltext"] for check in inspector.get_check_constraints(name)},
        frozenset(_foreign_key(one) for one in inspector.get_foreign_keys(name)),
    )


def _foreign_key(key: ReflectedForeignKeyConstraint) -> tuple[frozenset[str], str, str]:
    deletion = str(key["options"].get("ondelete") or "").upper()
    return frozenset(key["constrained_columns"]), key["referred_table"], deletion
