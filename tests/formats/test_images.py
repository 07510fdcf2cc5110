"""Images as tables: PNG of several depths, arrays, and files that are none."""

import io
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from app.errors import MalformedBodyError, TooLargeError
from app.formats.images import npy_image, open_image, png_image
from relevance_bayes.core.types import Array
from relevance_bayes.records.datasets import Image as ImageSize
from relevance_bayes.records.errors import InvalidDataError, RelevanceError
from relevance_bayes.tables.columns import IMAGE_COLUMNS, NumberArray
from tests.formats.files import spooled

GREY = np.array([[0, 51, 255], [102, 153, 204]], np.uint8)


def png(image: Image.Image) -> bytes:
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return sink.getvalue()


def npy(array: object) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.asarray(array), allow_pickle=True)
    return sink.getvalue()


def read(content: bytes, *, as_png: bool = True, max_pixels: int = 1_000_000) -> tuple[ImageSize | None, Array]:
    """The size, and the table (pixels, 3)."""
    with spooled(content) as file:
        table = open_image(file, png_image if as_png else npy_image, declared={}, max_rows=max_pixels)
        assert (table.names, table.kinds) == (IMAGE_COLUMNS, ("number",) * 3)
        blocks = list(table.blocks)
    columns = []
    for name in IMAGE_COLUMNS:
        parts = [block[name] for block in blocks]
        columns.append(np.concatenate([part.values for part in parts if isinstance(part, NumberArray)]))
    return table.image, np.column_stack(columns)


def test_a_pixel_is_a_row_line_after_line_from_black_to_white() -> None:
    size, table = read(png(Image.fromarray(GREY)))
    assert size == ImageSize(2, 3)
    np.testing.assert_array_equal(table[:, 0], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(table[:, 1], [0, 1, 2, 0, 1, 2])
    np.testing.assert_allclose(table[:, 2], GREY.ravel() / 255.0, rtol=1e-15)


def test_sixteen_bits_a_pixel_are_read_whole() -> None:
    deep = np.array([[0, 1, 65535], [257, 300, 40000]], np.uint16)
    _, table = read(png(Image.fromarray(deep)))
    np.testing.assert_allclose(table[:, 2], deep.ravel() / 65535.0, rtol=1e-15)


def test_colours_count_by_their_luminance_and_transparency_does_not() -> None:
    colours = np.array([[[255, 0, 0, 0], [0, 255, 0, 10]], [[0, 0, 255, 200], [255, 255, 255, 255]]], np.uint8)
    _, table = read(png(Image.fromarray(colours)))
    np.testing.assert_allclose(table[:, 2], [0.299, 0.587, 0.114, 1.0], atol=1 / 255)
    _, of_palette = read(png(Image.fromarray(colours).convert("RGB").convert("P")))
    np.testing.assert_allclose(of_palette[:, 2], table[:, 2], atol=0.05)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.uint8, np.bool_])
def test_an_array_is_read_as_it_is(kind: type) -> None:
    array: Array = np.array([[1, 0, 3], [0, 5, 1]]).astype(kind)
    for ordered in (array, np.asfortranarray(array)):
        size, table = read(npy(ordered), as_png=False)
        assert size == ImageSize(2, 3)
        np.testing.assert_array_equal(table[:, 2], array.astype(np.float64).ravel())


def test_a_large_image_comes_in_blocks() -> None:
    array = np.random.default_rng(0).normal(size=(700, 900))
    _, table = read(npy(array), as_png=False)
    np.testing.assert_array_equal(table[:, 2].reshape(array.shape), array)
    np.testing.assert_array_equal(table[:, 0], np.repeat(np.arange(700.0), 900))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.ones(5), "got shape (5,)"),
        (np.ones(5), "Upload a signal as a table"),
        (np.ones((2, 2, 3)), "got shape (2, 2, 3)"),
        (np.ones((2, 2), complex), "complex"),
        (np.array([["a", "b"]]), "<U1"),
        (np.array([[{}, {}]]), "object"),
        (np.ones((0, 3)), "no pixels"),
        (np.array([[1.0, np.nan]]), "Row 1, column 2: expected a finite number, got nan"),
    ],
)
def test_an_array_that_is_no_image_is_refused(array: object, words: str) -> None:
    with pytest.raises(InvalidDataError) as refused:
        read(npy(array), as_png=False)
    assert words in refused.value.detail


@pytest.mark.parametrize("as_png", [True, False])
def test_too_many_pixels_are_refused_before_they_are_unpacked(as_png: bool) -> None:
    content = png(Image.fromarray(GREY)) if as_png else npy(GREY)
    with pytest.raises(TooLargeError) as refused:
        read(content, as_png=as_png, max_pixels=5)
    assert refused.value.detail == "Expected at most 5 pixels, got 2 x 3."


def test_a_header_that_lies_of_a_great_image_costs_nothing() -> None:
    """A file of a hundred bytes that states it has ten thousand million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    bomb = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )
    with pytest.raises(TooLargeError):
        read(bomb)


@pytest.mark.parametrize("more", [b"\0", b"\x93NUMPY", bytes(6)], ids=["a byte", "a file", "an array"])
def test_bytes_behind_an_array_are_refused(more: bytes) -> None:
    with pytest.raises(MalformedBodyError) as refused:
        read(npy(GREY) + more, as_png=False)
    assert refused.value.detail == f"Expected 6 bytes after the array's header, got {6 + len(more)}."


@pytest.mark.parametrize("as_png", [True, False])
def test_files_that_are_cut_off_or_damaged_are_refused(as_png: bool) -> None:
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 255, (40, 40), np.uint8)
    full = png(Image.fromarray(noise)) if as_png else npy(noise)
    for length in (0, 5, 20, len(full) // 2, len(full) - 30):
        with pytest.raises(MalformedBodyError):
            read(full[:length], as_png=as_png)
    for _ in range(200):
        place = int(rng.integers(len(full)))
        damaged = bytearray(full)
        damaged[place] = int(rng.integers(256))
        with suppress(RelevanceError):
            read(bytes(damaged), as_png=as_png)


def test_another_format_is_no_png() -> None:
    sink = io.BytesIO()
    Image.fromarray(GREY).save(sink, "GIF")
    with pytest.raises(MalformedBodyError):
        read(sink.getvalue())
