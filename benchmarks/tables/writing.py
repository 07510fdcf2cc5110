"""`python -m benchmarks.tables.writing`: write all tables, in the environment that `make tables` makes."""

import warnings
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from benchmarks.tables.catalogue import ENTRIES, Entry
from benchmarks.tables.families import family
from benchmarks.tables.reserved import Fingerprint, is_reserved
from benchmarks.tables.sources import fingerprint, read, reserved_fingerprints
from benchmarks.tables.table import FOLDER, DataTable

MIN_ROWS = 100
INPUTS = range(2, 61)

MIN_SHARED_NAMES = 0.5
"""Share of all names of two tables' columns from which on they are one family."""


class UnfitTables(Exception):
    """Tables of the catalogue that are refused, with the reason."""


def write(folder: Path = FOLDER) -> list[DataTable]:
    """Check the catalogue, and write a file for each of its tables."""
    prints = {entry.name: fingerprint(entry) for entry in ENTRIES}
    tables = {entry.name: read(entry) for entry in ENTRIES}
    faults = [*_reserved(prints), *_unfit(tables.values()), *_unrelated(tables, prints)]
    if len(tables) != len(ENTRIES):
        faults.append("two tables have one name")
    if faults:
        raise UnfitTables("; ".join(faults))
    for entry in ENTRIES:
        tables[entry.name].write(folder, source=f"{entry.source}:{entry.path}")
    return list(tables.values())


def _reserved(prints: Mapping[str, Fingerprint]) -> list[str]:
    faults = [f"{name} is reserved" for name in prints if is_reserved(name)]
    known = list(reserved_fingerprints())
    return faults + [
        f"{name} has the columns of a reserved table"
        for name, own in prints.items()
        if any(own.same_data(other) for _, other in known)
    ]


def _unfit(tables: Iterable[DataTable]) -> list[str]:
    return [
        f"{table.name} has {table.rows} rows and {len(table.columns)} inputs"
        for table in tables
        if table.rows < MIN_ROWS or len(table.columns) not in INPUTS
    ]


def _unrelated(tables: Mapping[str, DataTable], prints: Mapping[str, Fingerprint]) -> list[str]:
    """Pairs that share columns, by value or by name, and are of two families."""
    named = {entry.name: entry for entry in ENTRIES}
    return [
        f"{one} and {other} share columns and are of two families"
        for one, other in combinations(tables, 2)
        if family(one) != family(other)
        and (prints[one].same_data(prints[other]) or _share_names(named, tables[one], tables[other]))
    ]


def _share_names(named: Mapping[str, Entry], one: DataTable, other: DataTable) -> bool:
    if "keel" in {named[one.name].source, named[other.name].source}:
        return False
    first, second = ({column.name.lower() for column in table.columns} for table in (one, other))
    return len(first & second) >= MIN_SHARED_NAMES * len(first | second)


def main() -> None:
    """Write the tables and print how many there are."""
    warnings.simplefilter("ignore")
    written = write()
    print(f"{len(written)} tables in {FOLDER.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
