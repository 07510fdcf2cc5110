"""The sizes of an image's parts, and the comparison of two: on archives as the engine exports them."""

import io
import random
import tarfile

import pytest

from deploy.image.contents import Entry, differences, entries
from deploy.image.sizes import GUIDE, MAX_PACKAGES_MB, PACKAGES, SERVICE, Size, excesses, package_of, report, sizes

SITE = "srv/venv/lib/python3.13/site-packages"


def archive_of(files: dict[str, bytes], *, mode: int = 0o644) -> tarfile.TarFile:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("srv/link")
        link.type, link.linkname = tarfile.SYMTYPE, "target"
        archive.addfile(link)
    written.seek(0)
    return tarfile.open(fileobj=written, mode="r|")


def test_each_file_counts_for_one_part_and_one_package() -> None:
    noise = random.Random(0).randbytes(50_000)
    files = {
        f"{SITE}/numpy/core.so": noise,
        f"{SITE}/numpy.libs/libopenblas.so": bytes(100_000),
        f"{SITE}/numpy-2.4.0.dist-info/RECORD": b"1",
        f"{SITE}/app/main.py": b"22",
        f"{SITE}/relevance_bayes/core.py": b"333",
        f"{SITE}/app/guide/index.html": b"4444",
        "srv/venv/bin/python": b"55555",
        "usr/local/bin/pg_dump": b"666666",
        "etc/passwd": b"7777777",
    }
    with archive_of(files) as archive:
        parts, packages = sizes(archive)
    assert sum(size.files for size in parts.values()) == sum(map(len, files.values()))
    assert parts[SERVICE].files == 5
    assert parts[GUIDE].files == 4
    assert packages == {"numpy": 150_001, "environment": 5}
    assert len(noise) < parts[PACKAGES].compressed < 60_000
    assert any(line.startswith("Python packages ") for line in report(parts, packages))


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("pyarrow/lib.so", "pyarrow"),
        ("psycopg_binary.libs/libpq.so", "psycopg"),
        ("psycopg/sql.py", "psycopg"),
        ("_cffi_backend.so", "cffi_backend"),
        ("PIL/Image.py", "pil"),
    ],
)
def test_libraries_and_metadata_belong_to_their_package(path: str, package: str) -> None:
    assert package_of(f"{SITE}/{path}") == package


def test_more_than_the_limits_is_an_excess() -> None:
    size = Size()
    size.files = int(MAX_PACKAGES_MB * 1e6)
    assert excesses(size) == []
    size.files += 1_000_000
    assert excesses(size) == ["the Python packages have 501.0 MB: at most 500 MB"]


def test_equal_images_have_no_differences() -> None:
    with archive_of({"a": b"1", "b": b"2"}) as one, archive_of({"b": b"2", "a": b"1"}) as other:
        found = entries(one)
        assert differences(found, entries(other)) == []
    assert len(found) == 3


def test_content_mode_owner_and_missing_files_are_differences() -> None:
    one = {name: Entry(0o644, (0, 0), b"0", "x") for name in ("content", "mode", "owner", "same", "first")}
    other = {
        **one,
        "content": Entry(0o644, (0, 0), b"0", "y"),
        "mode": Entry(0o600, (0, 0), b"0", "x"),
        "owner": Entry(0o644, (0, 5), b"0", "x"),
        "second": Entry(0o644, (0, 0), b"0", "x"),
    }
    del other["first"]
    expected = [
        "content: content",
        "first: only in the first",
        "mode: mode",
        "owner: owner",
        "second: only in the second",
    ]
    assert differences(one, other) == expected
