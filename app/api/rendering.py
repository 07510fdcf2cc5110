"""Records as the bytes of JSON."""

from functools import cache

from pydantic import TypeAdapter


def rendered(record: object) -> bytes:
    """A record of a class that is not generic, as JSON."""
    return _adapter(type(record)).dump_json(record)


@cache
def _adapter(record: type) -> TypeAdapter[object]:
    return TypeAdapter(record)
