import numpy as np
import pytest
from scipy.stats import ttest_rel

from benchmarks.pairs import compared


def test_the_interval_of_the_ratio_is_that_of_a_paired_t_test_on_logarithms() -> None:
    rng = np.random.default_rng(0)
    before = rng.uniform(1.0, 3.0, 20)
    after = before * np.exp(rng.normal(0.1, 0.05, 20))
    pairs = [(float(one), float(other)) for one, other in zip(before, after, strict=True)]
    *medians, ratio, low, high = compared(pairs)
    expected = ttest_rel(np.log(after), np.log(before)).confidence_interval(0.95)
    assert medians == pytest.approx([np.median(before), np.median(after)])
    assert [low, high] == pytest.approx([np.exp(expected.low), np.exp(expected.high)])
    assert low < ratio < high
