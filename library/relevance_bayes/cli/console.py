"""The output of commands, results on standard output and all else on standard error, and files that are `-`."""

import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NoReturn

import typer


def has_terminal() -> bool:
    """Return True where standard input is a terminal, so that a command may prompt."""
    return sys.stdin.isatty()


def has_terminals() -> bool:
    """Return True where standard error is a terminal too, so that a prompt is seen while results go elsewhere."""
    return has_terminal() and sys.stderr.isatty()


def echo(text: str) -> None:
    """Print a line on standard output, unbuffered."""
    typer.echo(text)


def warn(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(text, err=True)


def refuse(text: str) -> NoReturn:
    """Print the reason on standard error, and exit with 1."""
    warn(text)
    raise typer.Exit(1)


STREAM = Path("-")
"""Standard input as an argument, standard output as an option."""

HEAD_BYTES = 4096
"""The first bytes of standard input, by which its format is found."""

HEADS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x89PNG": ".png",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
"""The suffixes of formats by their first bytes; what is compressed is CSV."""

TABLE = re.compile(rb'\{\s*"(columns|names|rows)"\s*:\s*[\[{]')
"""The beginning of a whole table in JSON, which may be one line, as a row of NDJSON is."""

ZIP = b"PK\x03\x04"
WORKBOOK = "xl/workbook.xml"


def readable(context: typer.Context, file: Path | None) -> Path | None:
    """Return a file as it is; of `-` a temporary one with the content of standard input, removed with the command.

    Raises typer.BadParameter for a file that does not exist: typer's own `exists` refuses `-` too.
    """
    if file is None or context.resilient_parsing:
        return file
    if file != STREAM:
        if not file.exists():
            raise typer.BadParameter(f"file {str(file)!r} does not exist.")
        return file
    if has_terminal():
        warn("Reading standard input, up to Ctrl-D.")
    folder = Path(tempfile.mkdtemp(prefix="relevance-"))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    spooled = folder / "stdin"
    with spooled.open("wb") as out:
        shutil.copyfileobj(sys.stdin.buffer, out)
    if not spooled.stat().st_size:
        raise typer.BadParameter("standard input is empty.")
    return spooled.rename(folder / f"stdin{_suffix(spooled)}")


def write_result(output: Path, content: bytes, *, form: str, is_text: bool) -> None:
    """Write a result to a file, or to standard output for `-`.

    Raises typer.Exit(1) where the file can't be written, and where a terminal would show bytes that are no text.
    """
    if output == STREAM:
        refuse_binary(form, is_text=is_text)
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        refuse(f"{output}: {error.strerror}")


def refuse_binary(form: str, *, is_text: bool) -> None:
    """Exit with 1 where standard output is a terminal and the format is no text."""
    if not is_text and sys.stdout.isatty():
        refuse(f"{form} can't be shown on a terminal: pass --output FILE, or redirect standard output.")


def echo_written(output: Path, text: str) -> None:
    """Print where a result is; nothing where it is on standard output."""
    if output != STREAM:
        echo(text)


def _suffix(file: Path) -> str:
    """Return the suffix of the format of a file, by its first bytes; a text that does not begin as JSON is CSV."""
    with file.open("rb") as opened:
        head = opened.read(HEAD_BYTES)
    for first, suffix in HEADS.items():
        if head.startswith(first):
            return suffix
    if head.startswith(ZIP):
        try:
            with zipfile.ZipFile(file) as archive:
                return ".xlsx" if WORKBOOK in archive.namelist() else ".npz"
        except zipfile.BadZipFile:
            return ".xlsx"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith(b"{"):
        return ".csv"
    is_line = text.partition(b"\n")[0].rstrip().endswith(b"}")
    return ".ndjson" if is_line and TABLE.match(text) is None else ".json"
