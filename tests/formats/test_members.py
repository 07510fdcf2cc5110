"""Each format has all of its parts, and is named nowhere but in its own files."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module, util
from itertools import combinations
from pathlib import Path

import pytest

from app.formats import FORMATS, by_media_type, by_suffix
from app.formats.cells import Expected, ReadRows
from app.formats.format import AssembledFormat, Format, PartsFormat, ReadOptions, RowFormat, TableFormat, WritableFormat
from app.http.openapi import DESCRIBED
from relevance_bayes.records.formats import FILE_FORMATS, FileFormat

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()

OF_IMAGES = frozenset(
    {
        "app/http/negotiation.py",
        "app/prediction/routes.py",
        "library/relevance_bayes/client/encodings.py",
        "library/relevance_bayes/client/service_calls.py",
    }
)
"""Where an image is PNG or npy, the pixels of its code."""

OTHERWISE_NAMED = {
    "app/cli/audit.py": {"csv", "ndjson"},  # an option of the command
    "app/web/report.py": {"image/png"},  # images that a report embeds
    "app/web/static_files.py": {".csv", ".txt"},  # suffixes of the page's files
    "library/relevance_bayes/records/batch_predictions.py": {"parquet"},  # an example
    "library/relevance_bayes/documents/schema.py": {".npy"},  # members of an npz file
}


def missing_parts(one: Format) -> Iterator[str]:
    """The members that a format lacks, with the place where each belongs."""
    if not (one.name.isidentifier() and one.name.islower() and one.title):
        yield "a name of small letters, and a title"
    if not one.media_types or any(media_type != media_type.lower() for media_type in one.media_types):
        yield "media_types in small letters"
    if not one.suffixes or any(not suffix.startswith(".") or suffix != suffix.lower() for suffix in one.suffixes):
        yield "suffixes in small letters, with their points"
    if one.file_format not in FILE_FORMATS:
        yield "its file_format in FILE_FORMATS of relevance_bayes.records.formats, for clients"
    if one.file_format.is_written != isinstance(one, WritableFormat):
        yield "is_written of its file_format where it derives from WritableFormat, and nowhere else"
    if one.file_format.for_batches != isinstance(one, PartsFormat | AssembledFormat):
        yield "for_batches of its file_format where it derives from PartsFormat or AssembledFormat, and nowhere else"
    if not isinstance(one, TableFormat | RowFormat | WritableFormat):
        yield "a method: derive from TableFormat, RowFormat or WritableFormat"
    if isinstance(one, RowFormat):
        yield from (f"a description of {option!r} in DESCRIBED" for option in one.row_options - DESCRIBED.keys())
    sample = f"tests.formats.samples.{one.name}"
    needed = {
        "written": isinstance(one, RowFormat) or one.is_document,
        "read": isinstance(one, WritableFormat),
        "table_of": isinstance(one, PartsFormat | AssembledFormat),
    }
    module = import_module(sample) if util.find_spec(sample) is not None else None
    yield from (f"{name} in {sample}" for name, is_so in needed.items() if is_so and not hasattr(module, name))
    if row_of_docs(one) not in PAGE:
        yield f"its row in docs/reference/formats.md: {row_of_docs(one)}"


def row_of_docs(one: Format) -> str:
    """The row of the table of formats, where the format is of rows or predictions."""
    writes = one.predictions_summary if isinstance(one, WritableFormat) else ""
    tables = "yes" if isinstance(one, TableFormat) else "no"
    files = "yes" if isinstance(one, PartsFormat | AssembledFormat) else "no"
    suffixes = ", ".join(f"`{suffix}`" for suffix in one.suffixes)
    cells = (f"`{one.name}`", f"`{one.media_type}`", suffixes, one.rows_summary or "-", writes or "-", tables, files)
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_nothing_of_a_format_is_missing(one: Format) -> None:
    assert [*missing_parts(one)] == []


def test_no_two_formats_are_called_the_same() -> None:
    for one, other in combinations(FORMATS, 2):
        assert one.name != other.name
        assert not {*one.media_types} & {*other.media_types}
        assert not {*one.suffixes} & {*other.suffixes}


def test_a_format_is_found_by_its_type_and_by_its_suffix() -> None:
    for one in FORMATS:
        assert all(by_media_type(FORMATS, media_type) is one for media_type in one.media_types)
        assert all(by_suffix(FORMATS, f"a.b{suffix.upper()}") is one for suffix in one.suffixes)
    assert by_media_type(FORMATS, "") is by_suffix(FORMATS, "csv") is by_suffix(FORMATS, "a.nothing") is None


class WithoutReader(RowFormat):
    """Has media types, and can't read."""

    file_format = FileFormat("half", "application/x-half", (".half",))
    title = "Half"
    rows_summary = "None."


class WithoutTests(WithoutReader):
    """Has all that its class must have."""

    row_options = frozenset({"delimiter"})

    def read_rows(self, body: bytes, options: ReadOptions, expected: Expected, *, strict: bool) -> ReadRows:
        raise NotImplementedError


def test_a_format_without_a_method_can_not_be_made() -> None:
    assert WithoutReader.__abstractmethods__ == {"read_rows"}
    assert inspect.isabstract(WithoutReader)
    with pytest.raises(TypeError, match="read_rows"):
        WithoutReader()  # type: ignore[abstract]  # mypy's error in FORMATS


def test_what_a_format_lacks_beside_its_class_is_stated() -> None:
    assert [*missing_parts(WithoutTests())] == [
        "its file_format in FILE_FORMATS of relevance_bayes.records.formats, for clients",
        "written in tests.formats.samples.half",
        f"its row in docs/reference/formats.md: {row_of_docs(WithoutTests())}",
    ]


def test_no_format_is_named_outside_of_its_own_files() -> None:
    """But for JSON, which is the API's own, and for images."""
    others = [one for one in FORMATS if not one.is_document]
    words = {word for one in others for word in (one.name, *one.media_types, *one.suffixes)}
    modules = {type(one).__module__ for one in FORMATS}
    found = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("app/formats/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                found.append((name, node.module))
            if isinstance(node, ast.Constant) and node.value in words and name not in OF_IMAGES:
                found += [(name, str(node.value))] if node.value not in OTHERWISE_NAMED.get(name, set()) else []
    assert found == []
