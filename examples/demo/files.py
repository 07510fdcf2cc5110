"""The demo's data as files, to go on with."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path


def write_csv(path: Path, columns: Mapping[str, Sequence[float]]) -> Path:
    """Columns of one length under their names; the path."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
