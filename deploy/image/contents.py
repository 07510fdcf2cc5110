"""The files of a container image, as the engine exports them."""

import hashlib
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

BLOCK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A file, folder or link: its permissions, its owner and group, and the digest of its content or its target."""

    mode: int
    owner: tuple[int, int]
    kind: bytes
    content: str


@contextmanager
def exported(image: str) -> Iterator[tarfile.TarFile]:
    """The file system of an image as a stream that can be read once."""
    created = ["docker", "create", image]
    container = subprocess.run(created, check=True, capture_output=True, text=True).stdout.strip()
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as export:
            with tarfile.open(fileobj=export.stdout, mode="r|") as archive:
                yield archive
            if export.wait():
                raise RuntimeError(f"docker export {image} ended with {export.returncode}")
    finally:
        subprocess.run(["docker", "rm", container], check=True, capture_output=True)


def blocks(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    """The content of a file; nothing for folders and links."""
    file = archive.extractfile(member) if member.isreg() else None
    while file is not None and (block := file.read(BLOCK)):
        yield block


def entries(archive: tarfile.TarFile) -> Mapping[str, Entry]:
    """The entries of a file system by their paths."""
    found: dict[str, Entry] = {}
    for member in archive:
        digest = hashlib.sha256(member.linkname.encode())
        for block in blocks(archive, member):
            digest.update(block)
        found[member.name] = Entry(member.mode, (member.uid, member.gid), member.type, digest.hexdigest())
    return found


def differences(one: Mapping[str, Entry], other: Mapping[str, Entry]) -> list[str]:
    """The paths that only one of two file systems has, or that differ, with what differs."""
    found = []
    for path in sorted({*one, *other}):
        if path not in one or path not in other:
            found.append(f"{path}: only in the {'first' if path in one else 'second'}")
            continue
        first, second = vars(one[path]), vars(other[path])
        if differing := [name for name in first if first[name] != second[name]]:
            found.append(f"{path}: {', '.join(differing)}")
    return found
