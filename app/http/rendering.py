"""Records as the bytes of JSON."""

from pydantic import TypeAdapter

_ADAPTERS: dict[type, TypeAdapter[object]] = {}
"""Of the classes met so far."""


def to_json(record: object) -> bytes:
    """A record of a class that is not generic, as JSON."""
    kind = type(record)
    adapter = _ADAPTERS.get(kind)
    if adapter is None:
        adapter = _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    return adapter.dump_json(record)
