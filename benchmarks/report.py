"""Tables: printed as Markdown that is aligned for the eye, and put between their marks in README.md or a page."""

import re
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).with_name("README.md")
PAGES = {"training-costs": Path(__file__).parents[1] / "docs" / "reference" / "training-costs.md"}
"""Where the tables of a benchmark are written, if not to README.md."""


@dataclass(frozen=True)
class Table:
    """`rows` under `header`; `notes` describe what was measured, and what was not and why."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Markdown."""
        widths = [max(len(cell) for cell in cells) for cells in zip(self.header, *self.rows, strict=True)]
        lines = [_line(self.header, widths), _line(tuple("-" * wide for wide in widths), widths)]
        lines += [_line(row, widths) for row in self.rows]
        table = [*lines, ""] if self.rows else []
        return "\n".join([f"### {self.title}", "", *table, "\n\n".join(self.notes)])


def not_run(title: str, reason: object) -> Table:
    """A table that could not be measured."""
    return Table(title, ("",), (), (f"NOT RUN: {reason}.",))


def write(name: str, tables: list[Table]) -> None:
    """Put the tables of one benchmark where README.md, or the page that has them, has the marks of its name."""
    page = PAGES.get(name, README)
    marks = rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)"
    text = "\n\n".join(table.text() for table in tables)
    written, places = re.subn(marks, lambda found: f"{found[1]}{text}\n{found[2]}", page.read_text("utf-8"), flags=re.S)
    if places != 1:
        raise RuntimeError(f"{page.name} has {places} places for {name}, expected one")
    page.write_text(written, "utf-8")


def read(name: str) -> list[dict[str, str]]:
    """The rows of one benchmark's tables in README.md, by their header."""
    _, _, after = README.read_text("utf-8").partition(f"<!-- {name} -->\n")
    lines = after.partition("<!-- end -->")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    header, rows = cells[0], [row for row in cells[1:] if set(row[0]) != {"-"}]
    return [dict(zip(header, row, strict=True)) for row in rows]


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    return "| " + " | ".join(cell.ljust(wide) for cell, wide in zip(cells, widths, strict=True)) + " |"
