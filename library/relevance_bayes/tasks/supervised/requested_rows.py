"""The rows of a predict request: those that can be predicted, and the faults of the others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.contributions import contributions
from relevance_bayes.core.pool import AnyReady
from relevance_bayes.core.prediction import Prediction
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import EncodedTarget, Encoding
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.options import PredictOptions
from relevance_bayes.tasks.supervised.evaluation import ROWS_AT_ONCE
from relevance_bayes.tasks.supervised.explanation import Explanation
from relevance_bayes.tasks.supervised.unknown_categories import AveragedRows
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.predictions import UnknownCategory


@dataclass(frozen=True, eq=False)
class RequestedRows:
    """The valid rows (n, d) of a request of N `rows`, and the faults of the others.

    `noise_sd` (n,) where the request has it. `places` are the rows in the request of the valid ones, and after them of
    those with unknown categories, which are `averaged`; None: all rows.
    """

    inputs: Array
    noise_sd: Array | None
    rows: int
    places: Indices | None
    faults: tuple[Fault, ...]
    averaged: AveragedRows | None = None

    @property
    def note(self) -> tuple[tuple[UnknownCategory, ...], int]:
        """The first cells with unknown categories, and the number of rows with any."""
        return ((), 0) if self.averaged is None else (self.averaged.cells, len(self.averaged.places))

    def parts(self, ready: AnyReady) -> "Iterator[tuple[slice[int, int, None], Prediction, Array | None]]":
        """Yield parts of the rows with their predictions; at least one, so that an empty result has all members."""
        for first in range(0, len(self.inputs) or 1, ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, len(self.inputs)))
            if first:
                check_cancelled()
            part, support = ready.predict(self.inputs[some], None if self.noise_sd is None else self.noise_sd[some])
            yield some, part, support
        if self.averaged is not None:
            first = len(self.inputs)
            for places, part, support in self.averaged.predictions(ready, ROWS_AT_ONCE):
                yield slice(first, first + len(places)), part, support
                first += len(places)

    def spread(self, values: Array) -> Array:
        """Return values (n, ...) at the places of their rows, NaN elsewhere."""
        if self.places is None:
            return values
        spread = np.full((self.rows, *values.shape[1:]), np.nan)
        spread[self.places] = values
        return spread

    def joined(self, parts: Sequence[Array]) -> Array:
        """Return the joined parts, at the places of their rows."""
        return self.spread(joined(parts))

    def support(self, parts: Sequence[Array | None]) -> Array | None:
        """Return the joined supports; None where a part has none."""
        known = [part for part in parts if part is not None]
        return self.joined(known) if len(known) == len(parts) else None

    def explanation(
        self, ready: AnyReady, target: EncodedTarget, options: PredictOptions, *, latents: Indices | None = None
    ) -> Explanation | None:
        """Return the explanation of the valid rows, at their places.

        `latents` (n,) are the explained ones where a row has several.
        """
        if options.explain is None:
            return None
        found = contributions(ready, self.inputs, options.explain, latents=latents, noise_sd=self.noise_sd)
        explanation = Explanation.of(target, found)
        return explanation if self.places is None else explanation.spread(self.places, self.rows)


def valid_rows(
    encoding: Encoding,
    frequencies: Mapping[str, Array],
    block: Block,
    inputs: Array,
    noise_sd: Array | None,
    faults: Sequence[Fault],
    options: PredictOptions,
) -> RequestedRows:
    """Return the valid rows of a request with faults: a row with a fault is NaN throughout, and the model gets only the
    others. Rows with unknown categories are averaged, where the options permit it."""
    sound = np.isfinite(inputs[:, 0])
    if noise_sd is not None:
        sound &= np.isfinite(noise_sd)
    averaged = None
    if options.unknown_categories == "average":
        averaged = AveragedRows.of(encoding, frequencies, block, faults, noise_sd)
    places = np.flatnonzero(sound)
    inputs, noise = inputs[places], None if noise_sd is None else noise_sd[places]
    faults = sorted(faults, key=lambda fault: fault.row or 0)
    if averaged is not None and (options.covariance or options.explain is not None):
        rows, name = {*averaged.places.tolist()}, "covariance" if options.covariance else "explanation"
        note = f" The average over the known categories has no {name}."
        faults = [replace(one, detail=one.detail + note) if one.row in rows else one for one in faults]
    elif averaged is not None:
        rows = {*averaged.places.tolist()}
        faults = [fault for fault in faults if fault.row not in rows]
        return RequestedRows(inputs, noise, len(sound), np.append(places, averaged.places), tuple(faults), averaged)
    return RequestedRows(inputs, noise, len(sound), places, tuple(faults))


def joined(parts: Sequence[Array]) -> Array:
    """Return the parts one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
