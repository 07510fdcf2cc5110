"""The cost of an upload: memory that does not grow with the file, and no Arrow where no file needs it."""

import subprocess
import sys
from pathlib import Path

MEASURE = """
import os, resource, sys
from app.formats.format import ReadOptions
from app.formats.csv_stream import open_csv
from app.formats.spool import SpoolFile
from relevance_bayes.tables.statistics import TableStatistics

def peak():
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1024 if sys.platform == "darwin" else size

idle = peak()
with open(sys.argv[1], "rb") as file:
    body = SpoolFile(file, 2**40)
    body.size = os.fstat(file.fileno()).st_size
    table = open_csv(body, ReadOptions(), declared={}, max_columns=100)
    seen = TableStatistics(table.names, table.kinds)
    for block in table.blocks:
        seen.add(block)
    print(seen.rows, round((peak() - idle) / 1024))
"""

LINES = 20_000
PARTS = 40


def measured(code: str, *arguments: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True, timeout=120
    )
    return [int(word) for word in done.stdout.split()]


def test_a_file_of_any_size_costs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    part = "".join(f'customer-{n},{n / 7!r},{-n / 3!r},2024-05-01T00:00:00Z,"red, or\nblue"\n' for n in range(LINES))
    with path.open("w") as file:
        file.write("id,x,y,when,colour\n")
        for _ in range(PARTS):
            file.write(part)
    assert path.stat().st_size > 60 * 2**20
    rows, mebibytes = measured(MEASURE, str(path))
    assert rows == LINES * PARTS
    assert mebibytes < 150
