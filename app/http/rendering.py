"""Records as JSON."""

from pydantic import TypeAdapter

_ADAPTERS: dict[type, TypeAdapter[object]] = {}
"""Adapters by class, made at first use."""


def to_json(record: object) -> bytes:
    """Return a record as JSON; its class must not be generic."""
    kind = type(record)
    adapter = _ADAPTERS.get(kind)
    if adapter is None:
        adapter = _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    return adapter.dump_json(record)
