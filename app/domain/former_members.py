"""Members of stored and exported documents that had another name before."""

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def with_temperatures(value: Json) -> Json:
    """A document in which each `sharpness` s of a likelihood is a `temperature` of 1/s, as it is called now."""
    if isinstance(value, list):
        return [with_temperatures(inner) for inner in value] if value and isinstance(value[0], dict) else value
    if not isinstance(value, dict):
        return value
    if value.get("type") != "one_against_rest" or not _is_sharpness(value.get("sharpness")):
        return {name: with_temperatures(inner) for name, inner in value.items()}
    others = {name: inner for name, inner in value.items() if name != "sharpness"}
    return others | {"temperature": _temperature(value["sharpness"])}


def _is_sharpness(value: Json) -> bool:
    return value == "learned" or (isinstance(value, int | float) and value > 0.0)


def _temperature(sharpness: Json) -> Json:
    return 1.0 / sharpness if isinstance(sharpness, int | float) else sharpness
