"""The benchmarks in the guide: every measured table is on one page, and the main ones on their first page."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = DOCS / "explanation" / "benchmarks"
README = (ROOT / "benchmarks" / "README.md").read_text("utf-8")


def tables(text: str) -> list[list[dict[str, str]]]:
    """The rows of each table of a Markdown text, by the names of its columns."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        header, _, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines())
        found.append([dict(zip(header, row, strict=True)) for row in rows])
    return found


def test_each_measured_table_is_on_one_page() -> None:
    measured = re.findall(r"^<!-- (?!end -->)(.+) -->$", README, flags=re.MULTILINE)
    included = [
        name
        for page in sorted(DOCS.rglob("*.md"))
        for name in re.findall(r"^:start-after: <!-- (.+) -->$", page.read_text("utf-8"), flags=re.MULTILINE)
    ]
    assert sorted(included) == sorted(measured)


def test_the_figures_of_the_first_page_are_the_measured_ones() -> None:
    measured = [row.items() for table in tables(README) for row in table]
    shown = [row for table in tables((PAGES / "index.md").read_text("utf-8")) for row in table]
    assert len(shown) > 20
    assert [row for row in shown if not any(row.items() <= other for other in measured)] == []
