"""Prediction: a version at hand, a block of raw columns, and the answer in the user's units."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

import numpy as np

from app.domain.encoding import EncodedTarget, encode_inputs, user_mean, user_sd, user_variance
from app.domain.errors import Fault
from app.domain.models import Predictor, Version
from app.domain.ports import OpenUnitOfWork
from app.domain.tables import Block, ColumnKind, Label
from app.services.bounded_cache import BoundedCache
from app.sparse_bayes.model import KernelFunctions
from app.sparse_bayes.prediction import ClassPrediction, NumberPrediction, predict
from app.sparse_bayes.types import Array, Mask

STALE_AFTER = 1.0
"""Seconds after which what a name means is asked of the database again."""

ROWS_AT_ONCE = 8192
"""Rows of one evaluation of the model: what bounds the memory of a large batch."""

MOST_NAMES = 10_000


@dataclass(frozen=True, eq=False)
class ServedVersion:
    """A version ready to predict; `columns` are the raw inputs it reads, name and kind.

    `not_read` are the other columns of the table it was trained on: rows of that table may be sent as they are.
    """

    version: Version
    predictor: Predictor
    columns: tuple[tuple[str, ColumnKind], ...]
    not_read: frozenset[str]


@dataclass(frozen=True, eq=False)
class RegressionAnswer:
    """Predictions of N rows in the user's units, each (N,); `total` is the sum of the other three variances.

    A row with a fault is NaN throughout.
    """

    mean: Array
    sd: Array
    total: Array
    noise: Array
    weights: Array
    beyond: Array
    lower: Array
    upper: Array
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class ClassificationAnswer:
    """Predictions of N rows for two classes: probability (N,) of `classes[1]`, the latent's mean and variance (N,).

    A row with a fault is NaN throughout.
    """

    classes: tuple[Label, ...]
    probability: Array
    latent_mean: Array
    latent_variance: Array
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class _Meaning:
    """Which version a name stood for, till when that is believed, and from when one caller should ask again."""

    version_id: UUID
    until: float
    ask_from: float


_Name = tuple[str, str, int | None]


class Prediction:
    """Predictions from versions kept in at most `cache_bytes` of memory."""

    def __init__(
        self, open_uow: OpenUnitOfWork, cache_bytes: int, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_uow = open_uow
        self._now = now
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(cache_bytes, _size)
        self._meanings: dict[_Name, _Meaning] = {}
        self._lock = Lock()

    def at_hand(self, owner: str, name: str, number: int | None) -> ServedVersion | None:
        """A version (the newest when `number` is None) without asking the database, else None: see `version`."""
        key = (owner, name, number)
        now = self._now()
        with self._lock:
            meaning = self._meanings.get(key)
            if meaning is None or now >= meaning.until:
                return None
            if now >= meaning.ask_from:  # this caller asks ahead of time, so that the others never have to wait
                self._meanings[key] = _Meaning(meaning.version_id, meaning.until, ask_from=meaning.until)
                return None
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, number: int | None = None) -> ServedVersion:
        """A version, the newest when `number` is None, as of now; raises NotFoundError, UnavailableError."""
        asked_at = self._now()
        with self._open_uow() as uow:
            version = uow.models.version(owner, name, number)
        served = self._served.load(version.id, lambda: self._load(version))
        with self._lock:
            if len(self._meanings) >= MOST_NAMES:
                self._meanings.clear()
            meaning = _Meaning(version.id, asked_at + STALE_AFTER, asked_at + STALE_AFTER / 2)
            self._meanings[(owner, name, number)] = meaning
        return served

    def _load(self, version: Version) -> ServedVersion:
        with self._open_uow() as uow:
            predictor = uow.models.predictor(version.id)
        plan = version.report.plan
        columns = tuple((column.name, column.kind) for column in plan.inputs)
        return ServedVersion(version, predictor, columns, frozenset({plan.target, *(c.name for c in plan.ignored)}))

    def answer(
        self, served: ServedVersion, block: Block, *, interval: float
    ) -> RegressionAnswer | ClassificationAnswer:
        """Predict a block's N rows; `interval` in (0, 1) is the probability between `lower` and `upper`."""
        encoding, model = served.predictor.encoding, served.predictor.model
        inputs, faults = encode_inputs(encoding, block)
        # A faulty row is NaN throughout, which the model is not made for: it sees the sound rows alone.
        sound = np.isfinite(inputs[:, 0]) if faults else None
        asked = inputs if sound is None else inputs[sound]
        # One part at least: an empty table has no rows, but still the members of an answer.
        parts = [
            predict(model, asked[first : first + ROWS_AT_ONCE]) for first in range(0, len(asked) or 1, ROWS_AT_ONCE)
        ]
        if encoding.target.classes:
            return _classes(
                encoding.target, [part for part in parts if isinstance(part, ClassPrediction)], sound, faults
            )
        return _reals(
            encoding.target, [part for part in parts if isinstance(part, NumberPrediction)], sound, faults, interval
        )


def _classes(
    target: EncodedTarget, parts: list[ClassPrediction], sound: Mask | None, faults: tuple[Fault, ...]
) -> ClassificationAnswer:
    return ClassificationAnswer(
        classes=target.classes,
        probability=_joined([part.probability for part in parts], sound),
        latent_mean=_joined([part.latent_mean for part in parts], sound),
        latent_variance=_joined([part.latent_variance for part in parts], sound),
        faults=faults,
    )


def _reals(
    target: EncodedTarget, parts: list[NumberPrediction], sound: Mask | None, faults: tuple[Fault, ...], interval: float
) -> RegressionAnswer:
    below = (1.0 - interval) / 2.0
    mean = _joined([part.mean for part in parts], sound)
    lower = _joined([part.quantile(below) for part in parts], sound)
    upper = _joined([part.quantile(1.0 - below) for part in parts], sound)
    noise = _joined([part.noise for part in parts], sound)
    weights = _joined([part.weights for part in parts], sound)
    beyond = _joined([part.beyond for part in parts], sound)
    total = noise + weights + beyond
    sd = np.sqrt(total)
    # Together, since for few rows a call costs more than its numbers do.
    places = user_mean(target, np.stack((mean, lower, upper)))
    variances = user_variance(target, np.stack((total, noise, weights, beyond)))
    return RegressionAnswer(
        mean=places[0],
        sd=user_sd(target, sd),
        total=variances[0],
        noise=variances[1],
        weights=variances[2],
        beyond=variances[3],
        lower=places[1],
        upper=places[2],
        faults=faults,
    )


def _joined(parts: list[Array], sound: Mask | None) -> Array:
    """The parts one after the other, at the places of the sound rows."""
    values = np.concatenate(parts) if parts else np.empty(0)
    if sound is None:
        return values
    spread = np.full(len(sound), np.nan)
    spread[sound] = values
    return spread


def _size(served: ServedVersion) -> int:
    """About how many bytes a version takes: its arrays, and what its columns and categories cost."""
    model = served.predictor.model
    arrays = [model.mean, model.covariance, model.alpha, model.gamma]
    for functions in model.functions:
        if isinstance(functions, KernelFunctions):
            arrays += [functions.centres, functions.centres]  # once more as the kernel sees them
    columns = served.version.report.plan.inputs
    texts = sum(len(category) + 100 for column in columns for category in column.categories)
    return sum(array.nbytes for array in arrays) + 2 * texts + 1000 * (len(columns) + 4)
