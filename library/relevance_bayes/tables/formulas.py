"""Texts in CSV that a spreadsheet takes for formulas, and how they are written so that it does not.

A leading apostrophe makes them texts, as OWASP's page on CSV injection recommends.
"""

import re

_BEGINNING = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def escaped(text: str) -> str:
    """Return the text behind an apostrophe where it may be a formula; a number is none, whatever its sign."""
    return f"'{text}" if _BEGINNING.match(text) and not _NUMBER.fullmatch(text) else text
