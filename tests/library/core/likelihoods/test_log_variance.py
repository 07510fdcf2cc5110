import numpy as np
import pytest

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.likelihoods import LogVariance


def test_targets_are_squares_of_which_some_are_above_0() -> None:
    LogVariance().check(np.array([0.0, 4.0, 1.0]))
    with pytest.raises(DataError, match="expected squares, got -1"):
        LogVariance().check(np.array([4.0, -1.0]))
    with pytest.raises(DataError):
        LogVariance().check(np.array([4.0, np.nan]))
    with pytest.raises(ConstantTargetError, match="all are 0"):
        LogVariance().check(np.zeros(3))
