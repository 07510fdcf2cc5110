"""HistGradientBoosting as its user would run it: the pipeline by hand, and a small search."""

import warnings
from dataclasses import dataclass
from time import process_time

import numpy as np

from benchmarks.accuracy.scoring import PredictedClasses, PredictedNumbers, gaussian
from benchmarks.daily.splits import DailySplit
from benchmarks.support_vectors import FOLDS
from benchmarks.tables.peers import TREES, predicted_classes
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import CategoryArray, Column, TimestampArray
from relevance_bayes.tables.encoding import real_values

MAX_CATEGORIES = 255
"""The most values of a column that histogram gradient boosting splits as a category; target-encoded are others."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """X (N, d) of training rows and X_test (n, d): numbers and parts of dates, codes, and codes of many values."""

    X: Array
    X_test: Array
    numbers: int
    categories: int


def predictions(split: DailySplit) -> tuple[float, PredictedNumbers | PredictedClasses]:
    """The CPU seconds, and the predictions of all rows measured on.

    Numbers have a normal distribution of the sd of the residuals of cross-validation.
    """
    with warnings.catch_warnings():  # of columns without values, and rare classes
        warnings.simplefilter("ignore")
        return _predictions(split)


def _predictions(split: DailySplit) -> tuple[float, PredictedNumbers | PredictedClasses]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.model_selection import GridSearchCV, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import TargetEncoder

    rows = _matrix(split)
    few = rows.numbers + rows.categories
    many = ColumnTransformer(
        [("few", "passthrough", slice(few)), ("many", TargetEncoder(random_state=0), slice(few, None))]
    )
    classes = bool(split.classes)
    learner = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
        categorical_features=list(range(rows.numbers, few)), random_state=0
    )
    pipeline = make_pipeline(many, learner) if rows.X.shape[1] > few else make_pipeline(learner)
    grid = {f"{pipeline.steps[-1][0]}__{name}": values for name, values in TREES.items()}
    start = process_time()
    search = GridSearchCV(pipeline, grid, cv=FOLDS, scoring="neg_log_loss" if classes else "neg_mean_squared_error")
    search.fit(rows.X, split.t)
    if classes:
        return process_time() - start, predicted_classes(np.asarray(search.predict_proba(rows.X_test), np.float64))
    residuals = split.t - np.asarray(cross_val_predict(search.best_estimator_, rows.X, split.t, cv=FOLDS), np.float64)
    seconds = process_time() - start
    mean: Array = np.asarray(search.predict(rows.X_test), np.float64)
    sd = np.full(len(mean), np.sqrt(np.mean(residuals**2)))
    return seconds, gaussian(mean, sd, split.t_test)


def _matrix(split: DailySplit) -> Matrix:
    numbers, few, many = list[tuple[Array, Array]](), list[tuple[Array, Array]](), list[tuple[Array, Array]]()
    for name, column in split.learned.items():
        if name == split.table.target:
            continue
        other = split.measured[name]
        if isinstance(column, CategoryArray):
            labels = sorted({column.labels[code] for code in set(column.codes.tolist()) if code >= 0})
            pair = _codes(column, labels), _codes(other, labels)
            (few if len(labels) <= MAX_CATEGORIES else many).append(pair)
        else:
            numbers += list(zip(_parts(column), _parts(other), strict=True))
    pairs = [*numbers, *few, *many]
    X, X_test = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
    return Matrix(X, X_test, len(numbers), len(few))


def _codes(column: Column, labels: list[str]) -> Array:
    """The place (N,) of each row's text among those of the training rows, NaN where it is missing or unknown."""
    assert isinstance(column, CategoryArray)
    places = {label: float(place) for place, label in enumerate(labels)}
    return np.array([*(places.get(label, np.nan) for label in column.labels), np.nan])[column.codes]


def _parts(column: Column) -> list[Array]:
    """A number as it is; a date as time, year, month, day, weekday, day of the year and hour, each (N,)."""
    assert not isinstance(column, CategoryArray)
    values = real_values(column)
    if not isinstance(column, TimestampArray):
        return [values]
    missing = np.isnan(values)
    moments = np.where(missing, 0.0, values).astype("datetime64[s]")
    days, months, years = (moments.astype(f"datetime64[{unit}]") for unit in "DMY")
    parts = [
        years.astype(np.float64),
        (months - years).astype(np.float64),
        (days - months).astype(np.float64),
        ((days.astype(np.int64) + 3) % 7).astype(np.float64),
        (days - years).astype(np.float64),
        (moments - days).astype("timedelta64[h]").astype(np.float64),
    ]
    return [values, *(np.where(missing, np.nan, part) for part in parts)]
