"""Outcomes of predicted rows: receive them, compare them with the predictions, report."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import OpenTransaction, Transaction
from app.http.rate_limits import charge_rows, check_rows
from app.outcomes.records import MAX_UNKNOWN_IDS, Pending, ScoredOutcome
from app.outcomes.repository import ROWS_AT_ONCE, AlarmRepository, RecordedPredictionRepository
from app.outcomes.scoring import Promise, advance, score
from app.prediction import ServedVersion
from app.prediction.served_versions import ServedVersions
from app.registry.repository import ModelRepository, model_path
from app.registry.version_repository import VersionRepository
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.outcomes import BucketWidth, ModelAlarm, OutcomeBucket, OutcomesReceived
from relevance_bayes.records.values import Label
from relevance_bayes.tasks.cancellation import check_cancelled


@dataclass
class _Scores:
    """The scores of rows by their ids, None for those that can't be predicted; promises by version."""

    of_rows: dict[UUID, ScoredOutcome | None] = field(default_factory=dict)
    promises: dict[UUID, Promise] = field(default_factory=dict)


@dataclass(frozen=True)
class OutcomeService:
    """Outcomes of the rows that the versions of a model predicted for, and what they show."""

    transaction: OpenTransaction
    versions: ServedVersions

    def receive(self, owner: str, model: str, values: Mapping[str, Label]) -> OutcomesReceived:
        """Record outcomes by row id, compare them with the predictions, and raise or clear alarms.

        An outcome belongs to each version whose prediction for its row is recorded. The rows count for the owner's
        rate, since their predictions are computed again. Raises NotFoundError, InvalidRequestError for a value that
        the target can't have, and for a model without a target.
        """
        check_rows()
        with self.transaction() as tx:
            if ModelRepository(tx).get(owner, model).target is None:
                raise InvalidRequestError(f"Model {model!r} has no target, so its rows have no outcomes.")
            numbers = VersionRepository(tx).numbers(owner, model)
            found = [*RecordedPredictionRepository(tx).find(numbers, [*values])]
        scores = self._scores(owner, model, [one for one in found if one.outcome is None], values)
        charge_rows(len(scores.of_rows))
        with self.transaction() as tx:
            return _record(tx, owner, model, values, scores)

    def buckets(
        self,
        owner: str,
        model: str,
        width: BucketWidth,
        *,
        version: int | None = None,
        limit: int,
        after: str | None = None,
    ) -> KeysetPage[OutcomeBucket]:
        """Return what the outcomes of a model show by hour or day, newest first, of one version or of all.

        Raises NotFoundError, InvalidRequestError for a bad cursor.
        """
        with self.transaction() as tx:
            ModelRepository(tx).get(owner, model)
            numbers = _chosen(VersionRepository(tx).numbers(owner, model), model, version)
            page = RecordedPredictionRepository(tx).buckets(numbers, width, limit=limit, after=after)
        return KeysetPage(tuple(one.bucket() for one in page.items), page.next)

    def alarms(self, owner: str, model: str, part: PageRequest) -> KeysetPage[ModelAlarm]:
        """Return a page of a model's alarms; raises NotFoundError, InvalidRequestError for a bad cursor."""
        with self.transaction() as tx:
            ModelRepository(tx).get(owner, model)
            return AlarmRepository(tx).page(VersionRepository(tx).numbers(owner, model), model, part)

    def _scores(self, owner: str, model: str, rows: Sequence[Pending], values: Mapping[str, Label]) -> _Scores:
        """Return the scores of recorded rows under the predictions of their versions, which are computed again.

        Inputs are read some rows at a time. Raises WorkCancelledError where the client has disconnected.
        """
        scores, places = _Scores(), {row_id: place for place, row_id in enumerate(values)}
        for number, of_version in _grouped(rows, lambda one: one.number).items():
            with suppress(NotFoundError):  # the version, and its rows with it, may be gone by now
                served = self.versions.version(owner, model, number)
                scores.promises[served.version.id] = Promise.of(served)
                for first in range(0, len(of_version), ROWS_AT_ONCE):
                    check_cancelled()
                    scores.of_rows |= self._scored(served, of_version[first : first + ROWS_AT_ONCE], places, values)
        return scores

    def _scored(
        self, served: ServedVersion, rows: Sequence[Pending], places: Mapping[str, int], values: Mapping[str, Label]
    ) -> dict[UUID, ScoredOutcome | None]:
        """Return the scores of some rows of a version, of those that are still there."""
        with self.transaction() as tx:
            inputs = RecordedPredictionRepository(tx).inputs([one.id for one in rows])
        scored: dict[UUID, ScoredOutcome | None] = {}
        known = [one for one in rows if one.id in inputs]
        # Rows with and without a noise sd of their own can't be in one block.
        for some in _grouped(known, lambda one: len(json.loads(inputs[one.id]))).values():
            found = score(served, [(places[one.row_id], inputs[one.id], values[one.row_id]) for one in some])
            scored |= {one.id: each for one, each in zip(some, found, strict=True)}
        return scored


def _grouped(rows: Iterable[Pending], key: Callable[[Pending], int]) -> dict[int, list[Pending]]:
    groups: dict[int, list[Pending]] = {}
    for one in rows:
        groups.setdefault(key(one), []).append(one)
    return groups


def _chosen(numbers: Mapping[UUID, int], model: str, version: int | None) -> Mapping[UUID, int]:
    if version is None:
        return numbers
    chosen = {version_id: number for version_id, number in numbers.items() if number == version}
    if not chosen:
        raise NotFoundError(f"Model {model!r} has no version {version}.")
    return chosen


def _record(tx: Transaction, owner: str, model: str, values: Mapping[str, Label], scores: _Scores) -> OutcomesReceived:
    """Record the outcomes that no other request has recorded meanwhile, and what follows from them."""
    ModelRepository(tx).lock(owner, model)
    places = {row_id: place for place, row_id in enumerate(values)}
    found = [*RecordedPredictionRepository(tx).find(VersionRepository(tx).numbers(owner, model), [*values])]
    found.sort(key=lambda one: places[one.row_id])
    known = [one for one in found if one.outcome is not None]
    new = [one for one in found if one.outcome is None and one.id in scores.of_rows]
    conflicting = {one.row_id for one in known if json.loads(one.outcome or "") != values[one.row_id]}
    recorded = {one.row_id for one in new} - conflicting
    new = [one for one in new if one.row_id in recorded]
    if new:
        repository = RecordedPredictionRepository(tx)
        repository.set_outcomes([(one.id, json.dumps(values[one.row_id], ensure_ascii=False)) for one in new])
        for version_id in dict.fromkeys(one.version_id for one in new):
            mine = [(one.at, scores.of_rows[one.id]) for one in new if one.version_id == version_id]
            scored = [(at, one) for at, one in mine if one is not None]
            if scored:
                repository.count(version_id, scored)
                _advance(tx, owner, version_id, [one for _, one in scored], scores.promises[version_id])
        tx.record("outcomes.recorded", owner, f"{model_path(model)}/outcomes", outcomes=len(recorded))
    predicted = {one.row_id for one in (*known, *new)}
    unknown = [row_id for row_id in values if row_id not in predicted]
    return OutcomesReceived(
        recorded=len(recorded),
        repeated=len(values) - len(recorded) - len(conflicting) - len(unknown),
        conflicting=len(conflicting),
        unknown=len(unknown),
        unknown_ids=tuple(unknown[:MAX_UNKNOWN_IDS]),
    )


def _advance(tx: Transaction, owner: str, version_id: UUID, scored: Sequence[ScoredOutcome], promise: Promise) -> None:
    """Add outcomes to the charts of a version, and raise and clear alarms."""
    repository = AlarmRepository(tx)
    advanced = advance(repository.charts(version_id), scored, promise, tx.clock())
    for chart in advanced.raised:
        repository.begin(owner, version_id, chart)
    for alarm_id in advanced.cleared:
        repository.clear(owner, alarm_id)
    repository.save(version_id, advanced.charts)
