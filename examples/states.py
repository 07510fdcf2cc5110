"""The state machine of a job as docs/reference/jobs.md draws it: `python -m examples.states` draws it anew."""

from pathlib import Path

from relevance_bayes.types.jobs import FINISHED, MOVES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "jobs.md"
BEGIN, END = "```mermaid\n", "```\n"


def drawn() -> str:
    """Return what the domain's table of moves says, as a diagram."""
    lines = ["stateDiagram-v2", "  [*] --> queued: accepted (202)"]
    lines += [f"  {now} --> {then}: {when}" for now, following in MOVES.items() for then, when in following.items()]
    lines += [f"  {state} --> [*]" for state in MOVES if state in FINISHED]
    return "\n".join(lines) + "\n"


def redrawn(page: str) -> str:
    """The page with its diagram as it is to be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{drawn()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text()))
