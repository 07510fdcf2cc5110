"""The ports in memory, for tests of what stands above them: no transactions, no engine, one thread."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, TypeVar
from uuid import UUID

from app.domain.aliases import Alias, MovedAlias, nowhere
from app.domain.annotations import Annotation
from app.domain.attempts import Checkpoint, Claim, EarlierAttempts, Kept
from app.domain.conditions import Condition
from app.domain.datasets import Dataset, Upload
from app.domain.idempotency import RequestKey, StoredResponse
from app.domain.jobs import ALL, Job, JobActivity, JobFilter, JobResult, Problem, no_such_job, too_late_to_cancel
from app.domain.model_ports import NO_TAGS, Aliases, Models
from app.domain.models import Model, NewVersion, Version
from app.domain.ports import (
    Checkpoints,
    Datasets,
    Jobs,
    Keys,
    LastHeartbeat,
    Listener,
    Page,
    PageRequest,
    Queue,
    QueueState,
    UnitOfWork,
    Workers,
)
from app.domain.results import KeptResult, Layer, Piece, Reached, Results
from app.domain.webhook_ports import Deliveries, Webhooks
from app.domain.webhooks import MAX_WEBHOOKS, Delivery, DeliveryAttempt, Webhook
from app.errors import ConflictError, InUseError, KeyInUseError, KeyReusedError, UnavailableError
from app.identity import uuid7
from relevance_bayes.documents.models import Predictor, SupervisedReport
from relevance_bayes.tables.columns import Block, ColumnSummary, block_rows
from relevance_bayes.types.aliases import AliasMove
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.functions import ListedFunction, RelevanceVector
from relevance_bayes.types.jobs import FINISHED, Event, JobKind, JobState, Progress, Resumption, Transition
from relevance_bayes.types.references import NamedVersion, Selector
from relevance_bayes.types.webhooks import TEST, Attempt, DeliveryState, EventType

T = TypeVar("T")
NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def part_of(items: Sequence[T], part: PageRequest) -> Page[T]:
    """A slice of a list whose oldest member comes first."""
    return page_of([*reversed(items)] if part.order == "newest" else items, part.limit, part.after)


def page_of(items: Sequence[T], limit: int, after: str | None) -> Page[T]:
    """A stretch of a list, its cursor a plain position."""
    first = int(after) if after else 0
    more = first + limit < len(items)
    return Page(tuple(items[first : first + limit]), str(first + limit) if more else None)


@dataclass
class InMemoryDatasets:
    kept: dict[UUID, Dataset] = field(default_factory=dict)
    uploads: dict[UUID, Upload] = field(default_factory=dict)
    blocks: dict[UUID, list[tuple[int, Block]]] = field(default_factory=dict)
    needed: set[UUID] = field(default_factory=set)

    def put(self, dataset: Dataset, *blocks: Block) -> None:
        """Have a finished dataset."""
        self.kept[dataset.id] = dataset
        first = 0
        for block in blocks:
            self.blocks.setdefault(dataset.id, []).append((first, block))
            first += block_rows(block)

    def begin(self, upload: Upload) -> None:
        self.uploads[upload.id] = upload

    def append(self, dataset_id: UUID, number: int, first_row: int, block: Block) -> None:
        self.blocks.setdefault(dataset_id, []).append((first_row, block))

    def finish(self, dataset_id: UUID, *, rows: int, digest: str, columns: Sequence[ColumnSummary]) -> Dataset:
        upload = self.uploads.pop(dataset_id)
        dataset = Dataset(
            id=dataset_id,
            owner=upload.owner,
            name=upload.name,
            created_at=upload.created_at,
            rows=rows,
            digest=digest,
            columns=tuple(columns),
            image=upload.image,
        )
        self.kept[dataset_id] = dataset
        return dataset

    def discard(self, dataset_id: UUID) -> bool:
        del self.uploads[dataset_id]
        return False

    def remove_expired(self, *, not_written_since: datetime) -> bool:
        return False

    def get(self, owner: str, dataset_id: UUID) -> Dataset:
        dataset = self.kept.get(dataset_id)
        if dataset is None or dataset.owner != owner:
            raise NotFoundError(f"There is no dataset {dataset_id}.")
        return dataset

    def page(self, owner: str, part: PageRequest, *, name: str | None = None) -> Page[Dataset]:
        return part_of([one for one in self.kept.values() if one.owner == owner and name in (None, one.name)], part)

    def block(self, dataset_id: UUID, number: int) -> tuple[int, Block] | None:
        blocks = self.blocks[dataset_id]
        return blocks[number] if number < len(blocks) else None

    def block_holding(self, dataset_id: UUID, row: int) -> int:
        return max(number for number, (first, _) in enumerate(self.blocks[dataset_id]) if first <= row)

    def delete(self, owner: str, dataset_id: UUID) -> None:
        self.get(owner, dataset_id)
        if dataset_id in self.needed:
            raise InUseError("An unfinished job needs the dataset.")
        del self.kept[dataset_id]


@dataclass
class InMemoryJobs:
    kept: dict[UUID, Job] = field(default_factory=dict)
    happened: dict[UUID, list[Event]] = field(default_factory=dict)

    def put(self, job: Job) -> None:
        """Have a job as it is; its transitions are its events."""
        self.kept[job.id] = job
        self.happened[job.id] = [
            Event(number, transition.at, "transition", transition=transition)
            for number, transition in enumerate(job.transitions, start=1)
        ]

    def add(self, job: Job) -> None:
        self.put(replace(job, transitions=(Transition("queued", job.created_at, 0),)))

    def get(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        job = self.kept.get(job_id)
        if job is None or job.owner != owner or kind not in (None, job.kind):
            raise no_such_job(job_id, kind)
        return job

    def find(self, job_id: UUID) -> Job | None:
        return self.kept.get(job_id)

    def page(self, owner: str, part: PageRequest, *, which: JobFilter = ALL) -> Page[Job]:
        return part_of([job for job in self.kept.values() if job.owner == owner and _is_meant(job, which)], part)

    def events(
        self, owner: str, job_id: UUID, *, limit: int, after: int, kind: JobKind | None = None
    ) -> tuple[Event, ...]:
        self.get(owner, job_id, kind=kind)
        return tuple(self.happened[job_id][after : after + limit])

    def has_ended(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> bool:
        return self.get(owner, job_id, kind=kind).state in FINISHED

    def event_counts(self, job_ids: Sequence[UUID]) -> Mapping[UUID, int]:
        return {job_id: len(self.happened[job_id]) for job_id in job_ids if job_id in self.happened}

    def remove(self, owner: str, job_id: UUID) -> None:
        del self.kept[job_id]

    def claim(self, job_id: UUID, *, resumed_from: Resumption | None = None) -> Claim | None:
        raise NotImplementedError

    def hand_back(self, job_id: UUID, attempt: int) -> None:
        raise NotImplementedError

    def died(self, job_id: UUID, attempt: int, words: str) -> None:
        raise NotImplementedError

    def earlier_starts(self, job_id: UUID) -> EarlierAttempts | None:
        raise NotImplementedError

    def record_running_time(self, job_id: UUID, attempt: int, seconds: float) -> None:
        raise NotImplementedError

    def is_needed(self, job_id: UUID, attempt: int) -> bool:
        raise NotImplementedError

    def progress(self, job_id: UUID, attempt: int, progress: Progress) -> bool:
        self.kept[job_id] = replace(self.kept[job_id], progress=progress)
        return True

    def cancel_requested(self, job_id: UUID) -> bool:
        return self.kept[job_id].cancel_requested_at is not None

    def request_cancel(self, owner: str, job_id: UUID, *, kind: JobKind | None = None) -> Job:
        job = self.get(owner, job_id, kind=kind)
        if job.state == "cancelled":
            return job
        if job.state in FINISHED:
            raise too_late_to_cancel(job)
        state: JobState = "cancelled" if job.state == "queued" else job.state
        self.put(replace(job, state=state, cancel_requested_at=NOW))
        return self.kept[job_id]

    def succeed(self, job_id: UUID, attempt: int, version: NewVersion) -> Version | None:
        raise NotImplementedError

    def conclude(self, job_id: UUID, attempt: int, result: JobResult) -> bool:
        raise NotImplementedError

    def fail(self, job_id: UUID, attempt: int, problem: Problem) -> bool:
        self.put(replace(self.kept[job_id], state="failed", error=problem))
        return True

    def cancelled(self, job_id: UUID, attempt: int) -> bool:
        raise NotImplementedError

    def unfinished(self, *, after: UUID | None, limit: int) -> tuple[tuple[UUID, JobState, int], ...]:
        found = sorted((job.id, job.state, job.attempt) for job in self.kept.values() if job.state not in FINISHED)
        return tuple(job for job in found if after is None or job[0] > after)[:limit]

    def activity(self) -> JobActivity:
        states = {job.state for job in self.kept.values()}
        return JobActivity(max(self.kept, default=None), "queued" in states, not states <= FINISHED)

    def unfinished_of(self, job_ids: Sequence[UUID]) -> frozenset[UUID]:
        return frozenset(
            job_id for job_id in job_ids if job_id in self.kept and self.kept[job_id].state not in FINISHED
        )

    def count_unfinished(self, owner: str) -> int:
        return sum(job.owner == owner and job.state not in FINISHED for job in self.kept.values())

    def forget_progress(self, *, ended_before: float) -> bool:
        raise NotImplementedError


def _is_meant(job: Job, which: JobFilter) -> bool:
    requested = (
        (which.kind, job.kind),
        (which.state, job.state),
        (which.model, job.plan.model),
        (which.version, job.number),
        (which.dataset_id, job.request.dataset_id),
    )
    return all(required in (None, has) for required, has in requested)


@dataclass
class InMemoryCheckpoints:
    def keep(self, job_id: UUID, attempt: int, checkpoint: Checkpoint) -> bool:
        raise NotImplementedError

    def find(self, job_id: UUID, *, by: str) -> Kept | None:
        raise NotImplementedError


class InMemoryResults:
    def find(self, job_id: UUID) -> KeptResult | None:
        raise NotImplementedError

    def begin(self, job_id: UUID, attempt: int, *, by: str) -> Reached | None:
        raise NotImplementedError

    def put(self, job_id: UUID, attempt: int, layer: Layer, piece: Piece, *, reached: Reached | None = None) -> bool:
        raise NotImplementedError

    def trim(self, job_id: UUID, attempt: int, layer: Layer, *, size: int) -> bool:
        raise NotImplementedError

    def piece(self, job_id: UUID, layer: Layer, at: int) -> Piece | None:
        raise NotImplementedError

    def forget(self, job_id: UUID) -> bool:
        raise NotImplementedError

    def remove_expired(self, *, older_than: float) -> bool:
        raise NotImplementedError


@dataclass
class InMemoryModels:
    kept: dict[tuple[str, str], list[tuple[Version, NewVersion]]] = field(default_factory=dict)
    aliases: dict[tuple[str, str, str], Alias] = field(default_factory=dict)
    annotations: dict[tuple[str, str], Annotation] = field(default_factory=dict)
    loads: int = 0
    looks: int = 0

    def put(self, owner: str, made: NewVersion, *, number: int) -> Version:
        """Have a version."""
        name = made.report.plan.model
        job_id = uuid7() if isinstance(made.report, SupervisedReport) and made.report.imported is None else None
        version = Version(uuid7(), owner, name, number, job_id, NOW, made.report)
        self.kept.setdefault((owner, name), []).append((version, made))
        return version

    def add(self, owner: str, version: NewVersion) -> Version:
        name = version.report.plan.model
        kept = self.find(owner, name)
        if kept is not None and kept.target != version.report.plan.target:
            raise ConflictError(f"The versions of model {name!r} have another target.")
        return self.put(owner, version, number=1 if kept is None else (kept.latest or 0) + 1)

    def get(self, owner: str, name: str) -> Model:
        model = self.find(owner, name)
        if model is None:
            raise NotFoundError(f"There is no model {name!r}.")
        return model

    def find(self, owner: str, name: str) -> Model | None:
        versions = self.kept.get((owner, name))
        if not versions:
            return None
        plan = versions[-1][0].report.plan
        inputs = tuple(column.name for column in plan.inputs)
        latest = versions[-1][0].number
        given = self.annotations.get((owner, name), Annotation())
        aliases = {key[2]: alias.version for key, alias in sorted(self.aliases.items()) if key[:2] == (owner, name)}
        return Model(name, owner, NOW, plan.task, plan.target, inputs, len(versions), latest, aliases, given)

    def page(
        self, owner: str, part: PageRequest, *, task: str | None = None, tags: Mapping[str, str] = NO_TAGS
    ) -> Page[Model]:
        mine = [self.get(owner, name) for kept_by, name in self.kept if kept_by == owner]
        found = [model for model in mine if tags.items() <= model.annotation.tags.items()]
        return part_of([model for model in found if task in (None, model.task)], part)

    def version(self, owner: str, name: str, selector: Selector = None) -> Version:
        self.looks += 1
        self.get(owner, name)
        return self._pair(owner, name, selector)[0]

    def version_ids(self, names: Sequence[NamedVersion]) -> Mapping[NamedVersion, UUID]:
        found: dict[NamedVersion, UUID] = {}
        for owner, name, selector in names:
            with suppress(NotFoundError):
                found[owner, name, selector] = self._pair(owner, name, selector)[0].id
        return found

    def _pair(self, owner: str, name: str, selector: Selector) -> tuple[Version, NewVersion]:
        pairs = self.kept.get((owner, name), [])
        if isinstance(selector, str):
            if (owner, name, selector) not in self.aliases:
                raise NotFoundError(f"Model {name!r} has no alias {selector!r}.")
            selector = self.aliases[owner, name, selector].version
        for version, made in reversed(pairs):
            if selector is None or version.number == selector:
                return version, made
        raise NotFoundError(f"There is no version {selector} of model {name!r}.")

    def versions(self, owner: str, name: str, part: PageRequest, *, tags: Mapping[str, str] = NO_TAGS) -> Page[Version]:
        self.get(owner, name)
        found = [version for version, _ in self.kept[owner, name]]
        return part_of([one for one in found if tags.items() <= one.annotation.tags.items()], part)

    def hold(self, owner: str, name: str) -> None:
        self.get(owner, name)

    def annotate(self, owner: str, name: str, annotation: Annotation) -> Model:
        self.annotations[owner, name] = annotation
        return self.get(owner, name)

    def annotate_version(self, version: Version, annotation: Annotation) -> Version:
        pairs = self.kept[version.owner, version.model]
        after = replace(version, annotation=annotation)
        self.kept[version.owner, version.model] = [
            (after if one.id == version.id else one, made) for one, made in pairs
        ]
        return after

    def vectors(
        self,
        owner: str,
        name: str,
        selector: Selector,
        *,
        limit: int,
        after: str | None,
        sort: Literal["number", "weight"],
    ) -> Page[RelevanceVector]:
        vectors = list(self._pair(owner, name, selector)[1].vectors)
        if sort == "weight":
            vectors.sort(key=lambda vector: -abs(vector.max_weight))
        return page_of(vectors, limit, after)

    def functions(self, version_id: UUID) -> tuple[ListedFunction, ...]:
        made = next(made for pairs in self.kept.values() for version, made in pairs if version.id == version_id)
        return tuple(ListedFunction(one.number, one.kind, one.row, one.input) for one in made.vectors)

    def predictor(self, version_id: UUID) -> Predictor:
        self.loads += 1
        for pairs in self.kept.values():
            for version, made in pairs:
                if version.id == version_id:
                    return made.predictor
        raise NotFoundError("There is no such version.")

    def delete(self, owner: str, name: str) -> None:
        self.get(owner, name)
        del self.kept[owner, name]
        self.aliases = {key: alias for key, alias in self.aliases.items() if key[:2] != (owner, name)}

    def delete_version(self, owner: str, name: str, selector: Selector) -> None:
        pair = self._pair(owner, name, selector)
        if pair[0].number in self.get(owner, name).aliases.values():
            raise InUseError("An alias points to the version.")
        self.kept[owner, name].remove(pair)


@dataclass
class InMemoryAliases:
    models: InMemoryModels
    moves: dict[tuple[str, str, str], list[AliasMove]] = field(default_factory=dict)

    def get(self, owner: str, model: str, name: str) -> Alias:
        self.models.get(owner, model)
        if (owner, model, name) not in self.models.aliases:
            raise NotFoundError(f"Model {model!r} has no alias {name!r}.")
        return self.models.aliases[owner, model, name]

    def page(self, owner: str, model: str, *, limit: int, after: str | None) -> Page[Alias]:
        self.models.get(owner, model)
        mine = [alias for key, alias in sorted(self.models.aliases.items()) if key[:2] == (owner, model)]
        return page_of(mine, limit, after)

    def history(self, owner: str, model: str, name: str, part: PageRequest) -> Page[AliasMove]:
        if (owner, model, name) not in self.moves:
            raise NotFoundError(f"Model {model!r} has no alias {name!r}.")
        return part_of(self.moves[owner, model, name], part)

    def move(
        self, owner: str, model: str, name: str, *, to: Selector, by: str, reason: str | None, condition: Condition
    ) -> MovedAlias:
        self.models.get(owner, model)
        key = (owner, model, name)
        old = self.models.aliases.get(key)
        condition.require(f"Alias {name!r} of model {model!r}", None if old is None else old.tag)
        try:
            number = self.models.version(owner, model, to).number
        except NotFoundError as error:
            raise nowhere(error) from error
        if old is not None and (old.version, old.reason) == (number, reason):
            return MovedAlias(old, is_new=False)
        self._note(key, by, None if old is None else old.version, number, reason)
        self.models.aliases[key] = Alias(model, name, number, NOW, by, reason, uuid7())
        return MovedAlias(self.models.aliases[key], is_new=old is None)

    def remove(self, owner: str, model: str, name: str, *, by: str, reason: str | None, condition: Condition) -> None:
        old = self.get(owner, model, name)
        condition.require(f"Alias {name!r} of model {model!r}", old.tag)
        self._note((owner, model, name), by, old.version, None, reason)
        del self.models.aliases[owner, model, name]

    def _note(self, key: tuple[str, str, str], by: str, old: int | None, new: int | None, reason: str | None) -> None:
        moves = self.moves.setdefault(key, [])
        moves.append(AliasMove(len(moves) + 1, NOW, by, old, new, reason))


@dataclass
class InMemoryWorkers:
    def record_heartbeat(self, executor: str) -> None: ...

    def leave(self, executor: str) -> None: ...

    def last_heartbeats(self) -> Mapping[str, LastHeartbeat]:
        return {}

    def forget(self, executor: str) -> None: ...

    def alive(self, *, within: float) -> tuple[str, ...]:
        return ()


@dataclass
class InMemoryKeys:
    """Nobody's time is ever over; `holders` have not answered yet."""

    kept: dict[tuple[str, str, str], tuple[str, StoredResponse | None]] = field(default_factory=dict)
    holders: dict[tuple[str, str, str], UUID] = field(default_factory=dict)

    def find(self, key: RequestKey) -> StoredResponse | None:
        fingerprint, response = self.kept.get(_name(key), (None, None))
        if fingerprint is None:
            return None
        if fingerprint != key.fingerprint:
            raise KeyReusedError("This key came before with another request.")
        if response is None:
            raise KeyInUseError("The first request with this key is still being done.")
        return response

    def keep(self, key: RequestKey, response: StoredResponse) -> None:
        self._take(key, response)

    def begin(self, key: RequestKey, holder: UUID) -> None:
        self._take(key, None)
        self.holders[_name(key)] = holder

    def renew(self, key: RequestKey, holder: UUID) -> None:
        if self.holders.get(_name(key)) != holder:
            raise KeyInUseError("The key was taken over.")

    def complete(self, key: RequestKey, holder: UUID, response: StoredResponse) -> None:
        self.renew(key, holder)
        del self.holders[_name(key)]
        self.kept[_name(key)] = key.fingerprint, response

    def release(self, key: RequestKey, holder: UUID) -> None:
        if self.holders.get(_name(key)) == holder:
            del self.kept[_name(key)], self.holders[_name(key)]

    def remove_expired(self) -> bool:
        return False

    def _take(self, key: RequestKey, response: StoredResponse | None) -> None:
        if _name(key) in self.kept:
            raise KeyInUseError("Somebody was first.")
        self.kept[_name(key)] = key.fingerprint, response


def _name(key: RequestKey) -> tuple[str, str, str]:
    return key.owner, key.scope, key.key


@dataclass
class InMemoryWebhooks:
    kept: dict[UUID, Webhook] = field(default_factory=dict)
    secrets: dict[UUID, str] = field(default_factory=dict)

    def add(self, webhook: Webhook, secret: str) -> None:
        if sum(kept.owner == webhook.owner for kept in self.kept.values()) >= MAX_WEBHOOKS:
            raise ConflictError("There are too many webhooks.")
        self.kept[webhook.id] = webhook
        self.secrets[webhook.id] = secret

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        webhook = self.kept.get(webhook_id)
        if webhook is None or webhook.owner != owner:
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        return webhook

    def secret(self, owner: str, webhook_id: UUID) -> str:
        return self.secrets[self.get(owner, webhook_id).id]

    def page(self, owner: str, part: PageRequest) -> Page[Webhook]:
        return part_of([one for one in self.kept.values() if one.owner == owner], part)

    def change(
        self,
        owner: str,
        webhook_id: UUID,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        webhook = self.get(owner, webhook_id)
        self.kept[webhook_id] = replace(
            webhook,
            url=webhook.url if url is None else url,
            events=webhook.events if events is None else tuple(events),
            enabled=webhook.enabled if enabled is None else enabled,
        )
        return self.kept[webhook_id]

    def disable(self, webhook_id: UUID) -> None:
        raise NotImplementedError

    def remove(self, owner: str, webhook_id: UUID) -> None:
        self.get(owner, webhook_id)
        del self.kept[webhook_id]

    def remove_expired(self) -> bool:
        raise NotImplementedError


@dataclass
class InMemoryDeliveries:
    webhooks: InMemoryWebhooks
    kept: dict[UUID, Delivery] = field(default_factory=dict)

    def put(self, delivery: Delivery) -> None:
        """Have a delivery as it is."""
        self.kept[delivery.id] = delivery

    def page(
        self, owner: str, webhook_id: UUID, part: PageRequest, *, state: DeliveryState | None = None
    ) -> Page[Delivery]:
        self.webhooks.get(owner, webhook_id)
        mine = [one for one in self.kept.values() if one.webhook_id == webhook_id and state in (None, one.state)]
        return part_of(mine, part)

    def test(self, owner: str, webhook_id: UUID) -> Delivery:
        if not self.webhooks.get(owner, webhook_id).enabled:
            raise ConflictError("The webhook is disabled: enable it first.")
        made = Delivery(uuid7(), webhook_id, uuid7(), TEST, None, NOW, "pending", NOW)
        self.put(made)
        return made

    def redeliver(self, owner: str, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        if not self.webhooks.get(owner, webhook_id).enabled:
            raise ConflictError("The webhook is disabled: enable it first.")
        if delivery_id not in self.kept:
            raise NotFoundError(f"There is no delivery {delivery_id} of this webhook.")
        self.kept[delivery_id] = replace(self.kept[delivery_id], state="pending", next_attempt_at=NOW)
        return self.kept[delivery_id]

    def delivery_attempt(self, entry: UUID) -> DeliveryAttempt | None:
        raise NotImplementedError

    def record(self, entry: UUID, attempt: Attempt, *, retry_in: float | None) -> bool:
        raise NotImplementedError

    def overdue(self, *, seconds: float, limit: int) -> tuple[tuple[UUID, int], ...]:
        raise NotImplementedError

    def pending_of(self, entries: Sequence[UUID]) -> frozenset[UUID]:
        raise NotImplementedError

    def remove_expired(self, *, older_than: float) -> bool:
        raise NotImplementedError


@dataclass
class InMemoryQueue:
    """Both what is submitted and what is asked of the engine; `reachable`: whether it answers at all."""

    submitted: list[UUID] = field(default_factory=list)
    cancelled: list[UUID] = field(default_factory=list)
    priorities: dict[UUID, int] = field(default_factory=dict)
    reachable: bool = True

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        self.submitted.append(job_id)
        self.priorities[job_id] = priority

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        raise NotImplementedError

    def cancel(self, job_id: UUID) -> None:
        if not self.reachable:
            raise UnavailableError("The engine can't be reached.")
        self.cancelled.append(job_id)

    def state(self, job_id: UUID) -> QueueState:
        return "waiting" if job_id in self.submitted else "unknown"


class InMemoryNotifier:
    """A way to hear on which nobody ever says what happened: who hears has to look."""

    @contextmanager
    def open(self) -> Iterator[Listener]:
        yield self

    def receive(self) -> frozenset[UUID] | None:
        time.sleep(0.01)
        return None


@dataclass
class Unit:
    """One unit of work over what is kept."""

    datasets: Datasets
    jobs: Jobs
    checkpoints: Checkpoints
    results: Results
    models: Models
    aliases: Aliases
    workers: Workers
    keys: Keys
    webhooks: Webhooks
    deliveries: Deliveries
    queue: Queue


@dataclass
class InMemory:
    """Everything that a unit of work holds; `open` is the way in, which fails while `reachable` is False."""

    datasets: InMemoryDatasets = field(default_factory=InMemoryDatasets)
    jobs: InMemoryJobs = field(default_factory=InMemoryJobs)
    checkpoints: InMemoryCheckpoints = field(default_factory=InMemoryCheckpoints)
    results: InMemoryResults = field(default_factory=InMemoryResults)
    models: InMemoryModels = field(default_factory=InMemoryModels)
    workers: InMemoryWorkers = field(default_factory=InMemoryWorkers)
    keys: InMemoryKeys = field(default_factory=InMemoryKeys)
    webhooks: InMemoryWebhooks = field(default_factory=InMemoryWebhooks)
    queue: InMemoryQueue = field(default_factory=InMemoryQueue)
    reachable: bool = True
    opened: int = 0

    def __post_init__(self) -> None:
        self.deliveries = InMemoryDeliveries(self.webhooks)
        self.aliases = InMemoryAliases(self.models)

    @contextmanager
    def open(self) -> Iterator[UnitOfWork]:
        if not self.reachable:
            raise UnavailableError("The database can't be reached.")
        self.opened += 1
        yield Unit(
            self.datasets,
            self.jobs,
            self.checkpoints,
            self.results,
            self.models,
            self.aliases,
            self.workers,
            self.keys,
            self.webhooks,
            self.deliveries,
            self.queue,
        )
