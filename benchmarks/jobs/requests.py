"""The requests of the jobs: short fits and long ones."""

from collections.abc import Mapping

import numpy as np

from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json

FEW_ROWS, MANY_ROWS, HUGE_ROWS = 20, 800, 4_000

INDEPENDENT: dict[str, Json] = {"target": "y", "prior": {"type": "independent"}, "holdout": 0.0}


def empty(calls: Client) -> Mapping[str, Json]:
    """A fit of some ten milliseconds: a given width, on few rows."""
    return _request(calls, FEW_ROWS, {"type": "fixed", "value": 2.0})


def long(calls: Client, *, rows: int = MANY_ROWS) -> Mapping[str, Json]:
    """A fit of ten seconds and more: its width is searched, with folds."""
    return _request(calls, rows, {"type": "cross_validation", "folds": 5})


def endless(calls: Client) -> Mapping[str, Json]:
    """A fit of many minutes, to be cancelled: each width that is tried takes some."""
    search: Json = {"type": "cross_validation", "folds": 10}
    return {**_request(calls, HUGE_ROWS, search), "algorithm": {"type": "re_estimation"}}


def _request(calls: Client, rows: int, width: Json) -> Mapping[str, Json]:
    rng = np.random.default_rng(2027)
    x = rng.uniform(-10.0, 10.0, rows)
    y = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(rows)
    dataset = calls.create_dataset({"x": x.tolist(), "y": y.tolist()}, name="sinc")
    kernel: Json = {"type": "kernel", "kernel": {"type": "gaussian"}, "width": width}
    return {**INDEPENDENT, "dataset_id": dataset.id, "basis": [kernel, {"type": "bias"}]}
