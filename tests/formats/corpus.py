"""`python -m tests.formats.corpus FOLDER ...`: files of other packages, read as uploads, beside a second reader.

Texts are read by the csv module too: of each column the first cell that is not what its text states is printed. Files
that are refused are counted by their reasons.
"""

import bz2
import csv
import gzip
import hashlib
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from app.errors import MalformedBodyError, TooLargeError
from app.formats.format import ReadOptions
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Cell, ColumnKind
from tests.formats.files import read_again

MAX_BYTES = 500_000
DELIMITERS = (",", ";", "\t", "|", " ")
TRUTHS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}
OPENED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}


@dataclass
class Outcome:
    """Files, columns and cells that both readers read, and the columns that differ; `refused` counts the reasons."""

    files: int = 0
    columns: int = 0
    cells: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unlike: list[str] = field(default_factory=list)
    """Files of which the second reader has another number of columns or rows."""
    different: list[str] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Read a file by both readers."""
        content = OPENED.get(path.suffix, bytes)(path.read_bytes())
        for encoding in ("utf-8", "cp1252"):
            options = ReadOptions() if encoding == "utf-8" else ReadOptions(encoding="cp1252")
            try:
                (kinds, rows), readings = read_again(content, options, {})
            except (InvalidDataError, MalformedBodyError, TooLargeError) as refused:
                if encoding == "utf-8" and "encoding" in str(refused):
                    continue
                self.refused[" ".join(str(refused).split()[:8])] += 1
                return
            self.files += 1
            self._compare(path, content.decode("utf-8-sig" if encoding == "utf-8" else "cp1252"), kinds, rows, readings)
            return

    def _compare(
        self,
        path: Path,
        text: str,
        kinds: dict[str, ColumnKind],
        rows: Sequence[Sequence[Cell]],
        named: Mapping[str, ColumnReading],
    ) -> None:
        has_header = all(one.has_header is not False for one in named.values())
        for other in _tables(text, len(kinds)):
            data = other[1:] if has_header else other
            if len(data) != len(rows):
                continue
            for place, (name, kind) in enumerate(kinds.items()):
                for number, (mine, theirs) in enumerate(zip(rows, data, strict=True)):
                    self.cells += 1
                    if not _is_same(kind, mine[place], theirs[place], named.get(name)):
                        self.different.append(f"{path}: row {number + 1}, {name}: {theirs[place]!r} is {mine[place]!r}")
                        break
            self.columns += len(kinds)
            return
        self.unlike.append(f"{path}: {len(kinds)} columns, {len(rows)} rows")


def _tables(text: str, columns: int) -> Iterator[list[list[str]]]:
    """Yield the rows by each delimiter by which all have so many cells."""
    for delimiter in DELIMITERS:
        lines = text if not text.startswith("#") else text[text.index("\n") + 1 :]
        found = list(csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter, skipinitialspace=True))
        found = [row for row in found if row or columns == 1]
        while columns == 1 and found and not found[-1]:
            found.pop()
        found = [row or [""] for row in found]
        if found and all(len(row) == columns for row in found):
            yield found


def _is_same(kind: ColumnKind, cell: Cell, text: str, reading: ColumnReading | None) -> bool:
    stripped = text.strip()
    if cell is None:
        missing = () if reading is None or reading.missing_texts is None else reading.missing_texts
        return not stripped or stripped in {one.text for one in missing}
    match kind:
        case "category":
            return cell in {text, stripped}
        case "boolean":
            return TRUTHS.get(stripped.lower()) is cell
        case "number":
            return number_of(stripped, reading) == cell
        case "timestamp":
            return same_time(stripped, str(cell), None if reading is None else reading.date_format)


def number_of(text: str, reading: ColumnReading | None) -> float | None:
    """Return the number of a text, by the form of its column; None for another text."""
    text = text.replace("\N{EN DASH}", "-").replace("\N{MINUS SIGN}", "-")
    form = None if reading is None else reading.form
    if form is not None:
        text = text.removeprefix(form.prefix).removesuffix(form.suffix).strip()
        text = text.replace(form.thousands or "\0", "").replace(form.decimal, ".")
    try:
        return float(text)
    except ValueError:
        return None


def same_time(text: str, cell: str, form: str | None) -> bool:
    """Return whether a cell is the point in time of a text, by the format of its column."""
    if form is not None:
        return datetime.strptime(text, form).replace(tzinfo=UTC) == datetime.fromisoformat(cell)
    moment = pd.Timestamp(text)
    moment = moment.tz_localize(UTC) if moment.tzinfo is None else moment.tz_convert(UTC)
    return bool(abs((moment - pd.Timestamp(datetime.fromisoformat(cell))).total_seconds()) < 1e-5)


def files_of(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the texts below the folders, each content once."""
    seen = set[bytes]()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = path.name.removesuffix(".gz").removesuffix(".bz2")
            if not path.is_file() or not name.endswith((".csv", ".tsv")) or path.stat().st_size > MAX_BYTES:
                continue
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in seen:
                seen.add(digest)
                yield path


if __name__ == "__main__":
    outcome = Outcome()
    for one in files_of([Path(given) for given in sys.argv[1:]]):
        outcome.add(one)
    lines = [*outcome.different, *outcome.unlike]
    lines += [f"{times:4} {reason}" for reason, times in outcome.refused.most_common(20)]
    lines.append(f"{outcome.files} files, {outcome.columns:,} columns and {outcome.cells:,} cells are compared")
    sys.stdout.write("\n".join([*lines, f"{len(outcome.different)} columns differ", ""]))
