"""Where in a CSV file something is wrong: a second, slower reading, once it is known that something is."""

import csv
import io
from collections.abc import Iterator, Sequence

from app.api.formats.csv_dialect import Dialect, not_utf8
from app.api.formats.misfits import MOST_FAULTS_TOLD, shown
from app.api.formats.spool import SpoolFile
from app.domain.errors import Fault, MalformedBodyError, RelevanceError

PIECE = 2**20


def _records(file: SpoolFile, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Records that are not blank, each with the line on which it begins."""
    text = io.TextIOWrapper(file.reader(dialect.start), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=dialect.delimiter, strict=True)
    line = dialect.line
    for cells in reader:
        if cells:
            yield line, cells
        line = dialect.line + reader.line_num


def lines_of(file: SpoolFile, dialect: Dialect, rows: Sequence[int]) -> list[int]:
    """The lines (from 1) on which rows (from 0, ascending) begin."""
    wanted = set(rows)
    lines: dict[int, int] = {}
    for row, (line, _) in enumerate(_records(file, dialect)):
        if row in wanted:
            lines[row] = line
            if len(lines) == len(wanted):
                break
    return [lines[row] for row in rows]


def why_unreadable(file: SpoolFile, dialect: Dialect, reason: str) -> RelevanceError:
    """What to raise for a file that can't be read for `reason`: the first lines that are broken or of another width."""
    width = len(dialect.names)
    faults: list[Fault] = []
    line = dialect.line
    try:
        for line, cells in _records(file, dialect):
            if len(cells) != width:
                faults.append(Fault(f"Expected {width} cells, got {len(cells)}.", line=line))
                if len(faults) == MOST_FAULTS_TOLD:
                    break
    except UnicodeDecodeError:
        return _first_bad_byte(file)
    except csv.Error as error:
        # The record that is broken begins after the last that was not.
        broken = f"{error} in the record that begins here or after it: is a quotation mark missing?"
        faults.append(Fault(broken, line=line))
    if not faults:
        return MalformedBodyError(f"The file can't be read as CSV: {reason}.")
    first = faults[0]
    return MalformedBodyError(
        f"Line {first.line}: {first.detail} (The delimiter is {shown(dialect.delimiter)}.)", faults
    )


def _first_bad_byte(file: SpoolFile) -> RelevanceError:
    reader = file.reader()
    line, rest = 1, b""
    while piece := reader.read(PIECE):
        data = rest + piece
        try:
            data.decode()
            rest = b""
        except UnicodeDecodeError as error:
            if error.start < len(data) - 3:
                return not_utf8(data, error.start, line=line)
            rest = data[error.start :]
        done = data[: len(data) - len(rest)]
        line += done.count(b"\n")
    return not_utf8(rest, 0, line=line) if rest else MalformedBodyError("The file is not UTF-8.")
