"""Real data, read from a folder of .npz files that is no part of the project."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relevance_bayes.core.types import Array, Indices


class NotRun(Exception):
    """A table, or a row of one, that can't be measured here, with the reason."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to measure on; classes are 0.0, 1.0, ..."""

    X: Array
    t: Array
    X_test: Array
    t_test: Array


@dataclass(frozen=True)
class DataFolder:
    """The folder of `--data` or RELEVANCE_BENCH_DATA; README.md lists the files and arrays."""

    path: Path | None

    def ripley(self) -> Split:
        """Ripley's synthetic two-class data: 250 and 1,000 rows, 2 inputs."""
        return self._parted("ripley_synth")

    def pima(self) -> Split:
        """Ripley's division of the Pima data: 200 and 332 rows, 7 inputs."""
        return self._parted("pima_ripley")

    def ida(self, name: str, split: int) -> Split:
        """One of the official splits of a set of the IDA repository, counted from 0."""
        stored = self._arrays(f"ida_{name}", "X", "y", "train_idx", "test_idx")
        t = (stored["y"] > 0.0).astype(np.float64)
        return _divided(stored["X"], t, *(stored[rows][split].astype(np.intp) for rows in ("train_idx", "test_idx")))

    def airfoil(self, fold: int) -> Split:
        """Airfoil self-noise, 5 inputs, one of 10 published folds measured on."""
        return self.published("airfoil", fold)

    def published(self, name: str, fold: int) -> Split:
        """A regression set whose 10 published folds are numbers beside its rows."""
        stored = self._arrays(f"reg_{name}", "X", "y", "fold")
        measured = stored["fold"] == fold
        return _divided(stored["X"], stored["y"], np.flatnonzero(~measured), np.flatnonzero(measured))

    def uci(self, name: str, split: int) -> Split:
        """A regression set with one of its 20 published lists of rows measured on, counted from 0."""
        stored = self._arrays(f"uci_{name}", "X", "y", "test_idx")
        measured = stored["test_idx"][split].astype(np.intp)
        learning = np.setdiff1d(np.arange(len(stored["y"])), measured)
        return _divided(stored["X"], stored["y"], learning, measured)

    def wdbc(self, fold: int) -> Split:
        """Breast cancer Wisconsin (diagnostic), 30 inputs."""
        return self.dealt("wdbc", fold)

    def dealt(self, name: str, fold: int) -> Split:
        """A set of classes 0 to K - 1; each class dealt to 10 folds in a seeded order."""
        stored = self._arrays(f"cls_{name}", "X", "y")
        rng = np.random.default_rng(0)
        dealt = np.empty(len(stored["y"]), np.intp)
        for label in np.unique(stored["y"]):
            rows = rng.permutation(np.flatnonzero(stored["y"] == label))
            dealt[rows] = np.arange(len(rows)) % 10
        return _divided(stored["X"], stored["y"], np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold))

    def letter(self, rows: int, rng: np.random.Generator) -> Split:
        """26 classes, 16 inputs: `rows` of 20,000 to learn from, all others measured on."""
        stored = self._arrays("cls_letter", "X", "y")
        order = rng.permutation(len(stored["y"]))
        return _divided(stored["X"], stored["y"], order[:rows], order[rows:])

    def _parted(self, name: str) -> Split:
        stored = self._arrays(name, "X_train", "y_train", "X_test", "y_test")
        return Split(stored["X_train"], stored["y_train"], stored["X_test"], stored["y_test"])

    def _arrays(self, name: str, *arrays: str) -> dict[str, Array]:
        if self.path is None:
            raise NotRun("no folder of data: give --data or RELEVANCE_BENCH_DATA")
        path = self.path / f"{name}.npz"
        if not path.is_file():
            raise NotRun(f"{path.name} is not in the folder of data")
        with np.load(path, allow_pickle=False) as stored:
            return {array: np.asarray(stored[array], np.float64) for array in arrays}


def _divided(X: Array, t: Array, learning: Indices, measuring: Indices) -> Split:
    return Split(X[learning], t[learning], X[measuring], t[measuring])
