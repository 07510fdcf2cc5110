"""Escaping of texts that a spreadsheet would take for formulas in CSV.

A leading apostrophe makes them texts, as OWASP's page on CSV injection recommends.
"""

import re

from relevance_bayes.tables.kinds import is_number

_BEGINNING = re.compile(r"[=+\-@\t\r\n]")


def escaped(text: str) -> str:
    """Return the text, after an apostrophe where it may be a formula; numbers are not, whatever their sign."""
    return f"'{text}" if _BEGINNING.match(text) and not is_number(text) else text
