"""The names of classes of library and service, none of which a database may hold."""

import importlib
import pkgutil
import re
from functools import cache
from inspect import getmembers, isclass

from sqlalchemy import Engine, MetaData, select

import app
import relevance_bayes.core
import relevance_bayes.documents
import relevance_bayes.tables
import relevance_bayes.tasks

PACKAGES = (relevance_bayes.core, relevance_bayes.documents, relevance_bayes.tasks, relevance_bayes.tables)

RECORDS = (".records", ".requests", ".results", ".attempts", ".decisions", ".lineage")
"""The modules of the service whose records a database holds."""

PREAMBLE_SIZE = 24
"""Of a frame of bytes; its JSON follows."""


@cache
def class_names() -> frozenset[str]:
    """Those of all modules."""
    found: set[str] = set()
    library = [module.name for one in PACKAGES for module in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")]
    service = [module.name for module in pkgutil.walk_packages(app.__path__, "app.")]
    for name in [*library, *(one for one in service if one.endswith(RECORDS))]:
        members = getmembers(importlib.import_module(name), isclass)
        found |= {name for name, kind in members if kind.__module__.startswith(("app.", "relevance_bayes."))}
    return frozenset(found)


def stored_class_names(engine: Engine) -> dict[str, set[str]]:
    """Names of classes in the texts and frames of a database, by column."""
    found: dict[str, set[str]] = {}
    there = MetaData()
    with engine.connect() as connection:
        there.reflect(connection)
        for table in there.sorted_tables:
            for row in connection.execute(select(table)):
                for column, value in zip(table.columns, row, strict=True):
                    if names := class_names_in(value):
                        found.setdefault(str(column), set()).update(names)
    return found


def class_names_in(value: object) -> set[str]:
    """Names of classes among the words of a text, or of the JSON of a frame."""
    if isinstance(value, bytes) and value.startswith(b"RLVC"):
        size = int.from_bytes(value[8:12], "little")
        value = value[PREAMBLE_SIZE : PREAMBLE_SIZE + size].decode()
    return set(re.findall(r"\w+", value)) & class_names() if isinstance(value, str) else set()
