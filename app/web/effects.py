"""The effects of inputs in reports: profiles over rows of the training data."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.prediction import ServedVersion
from app.prediction.profile import profile
from app.web.sampled_rows import SampledRows
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError
from relevance_bayes.records.profiles import Profile, ProfileOptionsIn
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.cancellation import check_cancelled

MAX_EFFECTS = 12
"""The most inputs."""

POINTS_OF_EFFECTS = 25
"""The values of each that is a number or a point in time."""

INDIVIDUAL = 10
"""The rows whose own curves are drawn."""

MAX_AVERAGED, MIN_AVERAGED, MAX_CELLS = 50, 10, 20_000
"""The rows that are averaged, fewer of many inputs, as the page does."""

MAX_SECONDS = 2.0
"""The time after which no further profile is begun."""


@dataclass(frozen=True)
class Effects:
    """The profiles of inputs, and the number of rows that they are averaged over."""

    rows: int
    profiles: tuple[Profile, ...]


def effects_of(served: ServedVersion, rows: SampledRows, first: Sequence[str]) -> Effects | None:
    """Return the effects of the `first` inputs, and of others in their order, on the average prediction of rows.

    None for a version of fewer than two inputs or without a target, and where no input has an effect to show.
    """
    if served.model.target is None or len(served.columns) < 2:
        return None
    names = dict.fromkeys((*first, *(name for name, _ in served.columns)))
    found = tuple(_profiles(served, rows.block, [*names][:MAX_EFFECTS], min(INDIVIDUAL, len(rows.numbers))))
    return Effects(len(rows.numbers), found) if found else None


def _profiles(served: ServedVersion, block: Block, names: Sequence[str], individual: int) -> Iterator[Profile]:
    deadline = time.monotonic() + MAX_SECONDS
    shown = individual if len(served.model.classes) <= 2 else 0
    for name in names:
        check_cancelled()
        if time.monotonic() > deadline:
            return
        try:
            yield profile(served, ProfileOptionsIn(inputs=(name,), points=POINTS_OF_EFFECTS, individual=shown), block)
        except (InvalidRequestError, InvalidDataError):  # no row has a value of it, or one that can't be predicted
            continue
