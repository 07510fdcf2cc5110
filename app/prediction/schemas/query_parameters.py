"""OpenAPI of prediction options as query parameters, for formats of bodies without options."""

from app.http.row_formats import DESCRIBED, described
from app.prediction.schemas.predict import PredictOptionsIn


def query_parameters() -> list[dict[str, object]]:
    """Return the options of a JSON body as query parameters."""
    schema = PredictOptionsIn.model_json_schema(ref_template="#/components/schemas/{model}-Input")
    listed: list[dict[str, object]] = []
    for name, member in schema["properties"].items():
        given = {"name": name, "in": "query", "description": f"Not for a JSON body: {member.pop('description')}"}
        reported = {key: value for key, value in member.items() if key not in {"title", "default"} or value is not None}
        nested = name in {"class_priors", "costs"}
        listed.append(
            {**given, "content": {"application/json": {"schema": reported}}}
            if nested
            else {**given, "schema": reported}
        )
    for option in DESCRIBED:
        reported = {"type": "string"}
        listed.append({"name": option, "in": "query", "description": described(option), "schema": reported})
    return listed
