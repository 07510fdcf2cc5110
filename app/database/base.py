"""The declarative base of all tables.

JSON is stored as text: both databases return it as it was written, and a person can read it.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Double, LargeBinary, MetaData, Text, Uuid
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass

from app.database.column_types import UtcDateTime

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """The base of all tables; every constraint has a name, so that migrations can refer to it."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime(), str: Text(), UUID: Uuid(), bytes: LargeBinary(), float: Double()}


def one_of(column: str, values: frozenset[str]) -> str:
    """Return the SQL condition that a column has one of some values."""
    return f"{column} IN ({', '.join(repr(value) for value in sorted(values))})"
