"""The commands of a page: its blocks of shell, by their headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "deployment.md"


@dataclass
class Page:
    """The blocks of each heading; `used` are the headings whose blocks were run."""

    blocks: dict[str, list[str]]
    used: set[str] = field(default_factory=set)

    def take(self, heading: str) -> Iterator[str]:
        """The blocks of a heading, in their order."""
        self.used.add(heading)
        yield from self.blocks[heading]

    @property
    def left(self) -> set[str]:
        """The headings with blocks that were not run."""
        return {heading for heading, blocks in self.blocks.items() if blocks} - self.used


def section(title: str) -> Page:
    """A section of the page, with its subsections."""
    parts = re.split(r"^(##) (.+)\n", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    text = parts[parts.index(title) + 1]
    pieces = re.split(r"^### (.+)\n", text, flags=re.MULTILINE)
    headings = [title, *pieces[1::2]]
    return Page(
        {
            heading: re.findall(r"^```sh\n(.*?)^```$", piece, flags=re.MULTILINE | re.DOTALL)
            for heading, piece in zip(headings, pieces[::2], strict=True)
        }
    )
