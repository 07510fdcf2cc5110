"""`python -m benchmarks.tables.boosting_program ENGINE FILE ...`: learn and predict splits with LightGBM or CatBoost.

It runs in the environment of the tables.
Each file holds X (N, d), t (N,), X_test, `categories` (places of columns) and `classes` (their number, 0 for a
quantity); beside it, `.out.npz` gets `predicted`, (N,) or probabilities (N, K), and the CPU `seconds` of learning.
"""

import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Protocol

import numpy as np

from relevance_bayes.core.types import Array, Indices


class Learner(Protocol):
    """Learn X (N, d) and t (N,) with some columns as categories, and predict X_test."""

    def __call__(
        self, X: Array, t: Array, X_test: Array, *, categories: Indices, classes: int
    ) -> tuple[Array, float]: ...


def lightgbm(X: Array, t: Array, X_test: Array, *, categories: Indices, classes: int) -> tuple[Array, float]:
    """LightGBM's defaults."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if classes else LGBMRegressor)(n_jobs=1, random_state=0, verbose=-1)
    start = process_time()
    model.fit(X, t, categorical_feature=categories.tolist() or "auto")
    seconds = process_time() - start
    return np.asarray(model.predict_proba(X_test) if classes else model.predict(X_test), np.float64), seconds


def catboost(X: Array, t: Array, X_test: Array, *, categories: Indices, classes: int) -> tuple[Array, float]:
    """CatBoost's defaults."""
    from catboost import CatBoostClassifier, CatBoostRegressor
    from pandas import DataFrame

    frames = [DataFrame(some) for some in (X, X_test)]
    for frame in frames:
        for place in categories.tolist():
            frame[place] = frame[place].astype(int)
    model = (CatBoostClassifier if classes else CatBoostRegressor)(
        thread_count=1, random_seed=0, verbose=False, allow_writing_files=False, cat_features=categories.tolist()
    )
    start = process_time()
    model.fit(frames[0], t)
    seconds = process_time() - start
    found = model.predict_proba(frames[1]) if classes else model.predict(frames[1])
    return np.asarray(found, np.float64), seconds


LEARNERS: dict[str, Learner] = {"lightgbm": lightgbm, "catboost": catboost}


def main(engine: str, files: list[str]) -> None:
    """Learn and predict every file."""
    warnings.simplefilter("ignore")
    for path in map(Path, files):
        with np.load(path, allow_pickle=False) as stored:
            predicted, seconds = LEARNERS[engine](
                stored["X"],
                stored["t"],
                stored["X_test"],
                categories=stored["categories"],
                classes=int(stored["classes"]),
            )
        np.savez(path.with_suffix(".out.npz"), predicted=predicted, seconds=np.array(seconds))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
