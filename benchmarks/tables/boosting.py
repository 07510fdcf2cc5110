"""Peers that learn in the environment of the tables: all splits of a table by one process."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.accuracy.scoring import PredictedNumbers
from benchmarks.files import NotRun
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.peers import predicted_classes
from benchmarks.tables.splits import TableSplit
from relevance_bayes.core.types import Array

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-tables"
LOCK = Path(__file__).with_name("requirements-tables.lock")


def locked_version(package: str) -> str:
    """The version of a package that the lock pins."""
    pinned = re.search(rf"^{package}==(\S+)", LOCK.read_text("utf-8"), flags=re.M)
    assert pinned is not None
    return pinned[1]


def require_environment() -> None:
    """Raise NotRun where the environment of the tables is not installed."""
    if not (ENVIRONMENT / ".installed").exists():
        raise NotRun("LightGBM and CatBoost are not installed: `make tables`")


def boosted(package: str, splits: Sequence[TableSplit]) -> list[Outcome]:
    """Learn and predict all splits; raises NotRun."""
    require_environment()
    with TemporaryDirectory() as folder:
        files = [_written(Path(folder), split) for split in splits]
        command = [
            str(ENVIRONMENT / "bin" / "python"),
            "-m",
            "benchmarks.tables.boosting_program",
            package,
            *map(str, files),
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "library")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotRun(f"{package} failed: {done.stderr.strip().splitlines()[-1:]}")
        return [_outcome(file, split) for file, split in zip(files, splits, strict=True)]


def _written(folder: Path, split: TableSplit) -> Path:
    rows, path = split.codes(), folder / f"{split.number}.npz"
    np.savez(
        path,
        X=rows.X,
        t=rows.t,
        X_test=rows.X_test,
        categories=np.flatnonzero(split.table.is_category),
        classes=np.array(len(split.table.classes)),
    )
    return path


def _outcome(file: Path, split: TableSplit) -> Outcome:
    with np.load(file.with_suffix(".out.npz"), allow_pickle=False) as stored:
        predicted: Array = np.asarray(stored["predicted"], np.float64)
        seconds = float(stored["seconds"])
    return Outcome(seconds, 0, predicted_classes(predicted) if split.table.classes else PredictedNumbers(predicted))
