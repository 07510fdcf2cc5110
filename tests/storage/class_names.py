"""The names of the core's and the domain's classes, none of which a database may hold."""

import importlib
import pkgutil
from functools import cache
from inspect import getmembers, isclass

import app.domain
import app.sparse_bayes


@cache
def class_names() -> frozenset[bytes]:
    """Those that are written like classes alone: of two capitals or more, which no word of a text has."""
    found: set[str] = set()
    for package in (app.domain, app.sparse_bayes):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            members = getmembers(importlib.import_module(module.name), isclass)
            found |= {name for name, kind in members if kind.__module__.startswith("app.")}
    return frozenset(name.encode() for name in found)
