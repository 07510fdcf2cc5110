"""The moves of a job as docs/reference/jobs.md lists them: `python -m examples.states` updates the table."""

from pathlib import Path

from relevance_bayes.records.jobs import MOVES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "jobs.md"
BEGIN, END = "| from | to | when |\n", "\n\n"


def table() -> str:
    """Return the table of moves as Markdown."""
    rows = ["| --- | --- | --- |", "| | `queued` | it is accepted (202) |"]
    rows += [f"| `{now}` | `{then}` | {when} |" for now, following in MOVES.items() for then, when in following.items()]
    return BEGIN + "\n".join(rows)


def renewed(page: str) -> str:
    """Return the page with its table as it is to be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
