"""The time of an answer that has been learned."""

from collections.abc import Callable
from statistics import median
from time import process_time

from relevance_bayes.core.types import Array

TIMED = 5


def milliseconds(predict: Callable[[Array], object], X: Array) -> float:
    """CPU time of answering the rows X (N, d), the median of a few times."""
    seconds = []
    for _ in range(TIMED):
        start = process_time()
        predict(X)
        seconds.append(process_time() - start)
    return 1e3 * median(seconds)
