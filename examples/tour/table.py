"""A made-up table as a CSV file."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path


def write(rows: Sequence[Mapping[str, float | str]], path: Path) -> None:
    """Rows that name their columns."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
