"""Peers' figures kept between runs, one small JSON file each: a peer is slow, and changes only with its version."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks.files import Split
from benchmarks.repeats import Figures


@dataclass(frozen=True)
class Key:
    """The key of a peer's figures; `rows` is a digest of the split, so that another draw is another key."""

    engine: str
    settings: str
    version: str
    data: str
    split: int
    rows: str

    def file(self) -> str:
        """The name of a file, which identifies its content."""
        fields = (self.engine, self.data, str(self.split), self.version, self.settings, self.rows)
        digest = hashlib.sha256("\n".join(fields).encode()).hexdigest()[:12]
        stem = re.sub(r"[^a-z0-9.]+", "-", f"{self.engine} {self.data} {self.split} {self.version}".lower())
        return f"{stem.strip('-')}-{digest}.json"


@dataclass(frozen=True)
class PeersCache:
    """The folder of `--peers-cache`; with None nothing is kept."""

    folder: Path | None

    def get(self, key: Key) -> Figures | None:
        """The figures that were measured before."""
        if self.folder is None or not (file := self.folder / key.file()).is_file():
            return None
        stored: dict[str, Figures] = json.loads(file.read_text("utf-8"))
        return stored["figures"]

    def put(self, key: Key, figures: Figures) -> None:
        """Keep it; a reader sees a whole file or none."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / key.file()
        half = file.with_suffix(".half")
        half.write_text(json.dumps({"of": vars(key), "figures": figures}, indent=1), "utf-8")
        half.replace(file)


def digest(split: Split) -> str:
    """Twelve letters that stand for every number of a split."""
    summed = hashlib.sha256()
    for array in (split.X, split.t, split.X_test, split.t_test):
        summed.update(array.astype("<f8").tobytes())
    return summed.hexdigest()[:12]
