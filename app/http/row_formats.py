"""Formats of rows and predictions as OpenAPI shows them, and the options that stand in the query beside them."""

from collections.abc import Iterable, Mapping

from app.formats import ROW_FORMATS
from app.formats.format import Format, RowFormat
from app.formats.options import OptionName

DESCRIBED: Mapping[OptionName, str] = {
    "delimiter": "the character between cells; else found out.",
    "decimal": "the decimal mark, `.` or `,`; else found out.",
    "sheet": "the name of the sheet; else the first.",
}
"""The options of how a body is written."""


def contents(formats: Iterable[Format]) -> dict[str, dict[str, object]]:
    """By media type what is not a document of the API's own."""
    text, binary = {"type": "string"}, {"type": "string", "format": "binary"}
    return {one.media_type: {"schema": text if one.is_text else binary} for one in formats if not one.is_document}


def described(option: OptionName) -> str:
    """The option, behind the formats that have it."""
    titles = ", ".join(one.title for one in ROW_FORMATS if isinstance(one, RowFormat) and option in one.row_options)
    return f"{titles}: {DESCRIBED[option]}"
