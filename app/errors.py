"""The errors of the service, each named for what is wrong; only HTTP knows status codes."""

from collections.abc import Sequence

from relevance_bayes.types.errors import Fault, RelevanceError


class MalformedBodyError(RelevanceError):
    """The body is not what its content type says: broken JSON, cut-off Parquet, text that is not UTF-8."""


class TooLargeError(RelevanceError):
    """A body, a table or a batch above the limit."""


class GoneError(RelevanceError):
    """It was there, and was removed: for its age, or because somebody asked for that."""


class ConflictError(RelevanceError):
    """Right in itself, but not in the state in which things are."""


class InUseError(ConflictError):
    """The resource to be deleted is in use: by an unfinished job, which may be to add to it, or by an alias."""


class PreconditionFailedError(RelevanceError):
    """A thing is not, or is no longer, what a change of it was to depend on."""


class KeyReusedError(RelevanceError):
    """An idempotency key that came before with another request."""


class KeyInUseError(RelevanceError):
    """The first request with this idempotency key has not been answered yet; trying again later is right."""


class TooManyJobsError(RelevanceError):
    """The owner has as many unfinished jobs as they may have; trying again later is right."""


class NotInstalledError(RelevanceError):
    """The request needs a package that this installation does without."""


class UnavailableError(RelevanceError):
    """The database or the engine can't be reached now; trying again later is right."""


class OutOfReachError(UnavailableError):
    """The database is known to be away: nothing was tried."""


class ClientLeftError(RelevanceError):
    """The client closed the connection while its request was worked on; nobody reads the answer, logs say it."""


class TrainingFailedError(RelevanceError):
    """A fit that could not succeed; `kind` is a stable slug for machines, the detail says what to do."""

    def __init__(self, detail: str, *, kind: str = "training-failed", faults: Sequence[Fault] = ()) -> None:
        super().__init__(detail, faults)
        self.kind = kind
