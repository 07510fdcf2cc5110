"""Tables of HTML for notebooks. Every text is escaped, and cut where it is long."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape

MAX_CHARACTERS = 200
"""The characters of a text that are shown."""


def figure(value: object) -> str:
    """Return a value as text: numbers with five digits, nothing for None."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.5g}"
        case int():
            return f"{value:,}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S} UTC"
        case _:
            text = str(value)
            return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def table_html(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, more: int = 0) -> str:
    """Return a table; `more` is the number of rows that are left out."""
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(value)}</td>' for value in row)}</tr>" for row in rows)
    rest = f"<p>{more:,} more rows</p>" if more > 0 else ""
    return f"<p><b>{_text(caption)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def facts_html(caption: str, facts: Mapping[str, object]) -> str:
    """Return a table with a row for each fact that has a value."""
    rows = "".join(
        f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>"
        for name, value in facts.items()
        if value not in (None, "", ())
    )
    return f"<p><b>{_text(caption)}</b></p><table><tbody>{rows}</tbody></table>"


def progress_html(share: float | None) -> str:
    """Return a bar; None is one of unknown length."""
    value = "" if share is None else f' max="1" value="{min(max(share, 0.0), 1.0):.3f}"'
    return f"<progress{value}></progress>"


def _text(value: object) -> str:
    return escape(figure(value))
