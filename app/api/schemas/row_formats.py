"""Formats of rows and predictions as OpenAPI shows them, and the options that stand in the query beside them."""

from app.api.negotiation import ROW_TYPES, RowFormat
from app.api.schemas.requests import PredictOptions

_TEXTS: frozenset[RowFormat] = frozenset({"csv", "ndjson"})

_DESCRIBED = {
    "delimiter": "CSV: the character between cells; else found out.",
    "decimal": "CSV: the decimal mark, `.` or `,`; else found out.",
}


def other_contents() -> dict[str, dict[str, object]]:
    """By media type what is not JSON."""
    return {
        media_type: {"schema": {"type": "string"} if coded in _TEXTS else {"type": "string", "format": "binary"}}
        for media_type, coded in ROW_TYPES.items()
        if coded != "json"
    }


def query_parameters() -> list[dict[str, object]]:
    """The options of a body that has no room for them: those of a JSON body, which stand in it, as parameters."""
    schema = PredictOptions.model_json_schema(ref_template="#/components/schemas/{model}-Input")
    listed: list[dict[str, object]] = []
    for name, member in schema["properties"].items():
        said = {"name": name, "in": "query", "description": f"Not with a JSON body: {member.pop('description')}"}
        told = {key: value for key, value in member.items() if key not in {"title", "default"} or value is not None}
        nested = name in {"class_priors", "costs"}
        listed.append(
            {**said, "content": {"application/json": {"schema": told}}} if nested else {**said, "schema": told}
        )
    for name, described in _DESCRIBED.items():
        listed.append({"name": name, "in": "query", "description": described, "schema": {"type": "string"}})
    return listed
