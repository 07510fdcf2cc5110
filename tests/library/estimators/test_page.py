"""The page on estimators runs as it is, where pandas is installed, and without it on a table of pyarrow."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from relevance_bayes.estimators import RelevanceRegressor

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "estimators.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_a_table_is_five_lines_from_its_intervals() -> None:
    assert len([line for line in BLOCKS[0].splitlines() if line]) == 5
    table = pyarrow.csv.read_csv(ROOT / "examples" / "tour" / "kiosk.csv")
    inputs, litres = table.drop_columns(["litres"]), table["litres"]
    mean, interval = RelevanceRegressor().fit(inputs, litres).predict(inputs, return_interval=0.9)
    target = litres.to_numpy()
    inside = (interval[:, 0] <= target) & (target <= interval[:, 1])
    assert 0.84 < inside.mean() < 0.96
    assert np.corrcoef(mean, target)[0, 1] > 0.95


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    variables: dict[str, object] = {}
    *without_service, moving = BLOCKS
    assert "push" in moving
    for block in without_service:
        exec(block, variables)
    interval, functions = variables["interval"], variables["functions"]
    assert isinstance(interval, np.ndarray)
    assert isinstance(functions, list)
    assert interval.shape == (2, 2)
    assert functions
