"""OpenAPI of the row formats, and the query parameters of their options."""

from collections.abc import Iterable, Mapping

from app.formats import ROW_FORMATS
from app.formats.format import Format, RowFormat
from app.formats.options import OptionName

DESCRIBED: Mapping[OptionName, str] = {
    "delimiter": "the delimiter, detected by default.",
    "decimal": "the decimal separator, `.` or `,`, detected by default.",
    "sheet": "the name of the sheet, by default the first.",
}
"""Descriptions of the options of a body's format."""


def contents(formats: Iterable[Format]) -> dict[str, dict[str, object]]:
    """Return the OpenAPI content of formats other than JSON, by media type."""
    text, binary = {"type": "string"}, {"type": "string", "format": "binary"}
    return {one.media_type: {"schema": text if one.is_text else binary} for one in formats if not one.is_document}


def described(option: OptionName) -> str:
    """Return the description of an option, after the formats that have it."""
    titles = ", ".join(one.title for one in ROW_FORMATS if isinstance(one, RowFormat) and option in one.row_options)
    return f"{titles}: {DESCRIBED[option]}"
