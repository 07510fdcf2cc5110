"""The rows that a version predicted lately: those outside the support, and the bins of its baseline that they are in.

Predictions only append to a bounded list; a thread counts what is in it, once a second.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from app.prediction.drift_windows import DriftWindow
from app.registry.records import Version
from relevance_bayes.core.types import Array
from relevance_bayes.records.statistics import MIN_SUPPORT
from relevance_bayes.records.values import Label
from relevance_bayes.tables.columns import Block, taken
from relevance_bayes.tables.moments import Binning
from relevance_bayes.tasks.listing import monitored_column
from relevance_bayes.tasks.prediction import RowPredictions
from relevance_bayes.tasks.rows import joined

MAX_WAITING = 128
"""The number of requests of a version that are counted each second, the first ones."""

MAX_ROWS = 500
"""The maximum number of rows counted of a request, random ones of more."""

MAX_CELLS = 32_768
"""The maximum number of rows times inputs that are kept of a request until the count."""


class DriftMonitor:
    """Counts of one version in this process; threads that predict call `add`, and one thread at a time the rest."""

    def __init__(self, version: Version, classes: Sequence[Label]) -> None:
        baseline = version.report.baseline
        self._inputs = tuple(Binning(one) for one in (() if baseline is None else baseline.inputs))
        self._predictions = None if baseline is None else Binning(baseline.predictions)
        self._classes = tuple(classes)
        self._max_rows = min(MAX_ROWS, MAX_CELLS // max(len(self._inputs), 1))
        self._max_whole = min(MAX_ROWS, MAX_CELLS // max(len(version.report.plan.inputs), 1))
        self._random = np.random.default_rng()
        self._max_waiting = MAX_WAITING
        self._waiting: deque[tuple[Block, Array, Array | None]] = deque()
        self.window = DriftWindow(
            version_id=str(version.id),
            owner=version.owner,
            model=version.model,
            number=version.number,
            inputs=tuple((one.histogram.name, one.expected) for one in self._inputs),
            predictions=() if self._predictions is None else self._predictions.expected,
        )

    def add(self, block: Block, prediction: RowPredictions, rows: int) -> None:
        """Keep the rows of a request for the count, unless there are many already."""
        waiting, support = self._waiting, prediction.support
        if len(waiting) >= self._max_waiting or (support is None and self._predictions is None):
            return
        values = prediction.monitored[1]
        if rows <= self._max_whole:
            waiting.append((block, values, support))
        else:
            waiting.append(self._part(block, values, support))

    def stop(self) -> None:
        """Keep no rows any more, and forget those that were kept."""
        self._max_waiting = 0
        self._waiting.clear()

    def _part(self, block: Block, values: Array, support: Array | None) -> tuple[Block, Array, Array | None]:
        """Return the monitored inputs of random rows: one of each of equally many consecutive ones."""
        number = min(self._max_rows, len(values))
        rows = ((np.arange(number) + self._random.random(number)) * (len(values) / number)).astype(np.intp)
        names = (one.histogram.name for one in self._inputs)
        part = {name: taken(block[name], rows) for name in names if name in block}
        return part, values[rows], None if support is None else support[rows]

    def count(self, half: int) -> bool:
        """Count the rows kept since the last call in this half of the window; return whether there were any."""
        self.window.forget(half)
        kept = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not kept:
            return False
        blocks, values, supports = zip(*kept, strict=True)
        known = [support for support in supports if support is not None]
        support = np.concatenate(known) if known else np.empty(0)
        counts = [
            sum(map(len, values)),
            int(np.count_nonzero(~np.isnan(support))),
            int(np.count_nonzero(support < MIN_SUPPORT)),
        ]
        for binning in self._inputs:
            name = binning.histogram.name
            columns = [block[name] for block in blocks if name in block]
            counts += [0] * len(binning.expected) if not columns else binning.observed(joined(columns)).tolist()
        if self._predictions is not None:
            column = monitored_column(np.concatenate(values), self._classes)
            counts += self._predictions.observed(column).tolist()
        self.window.add(half, counts)
        return True
