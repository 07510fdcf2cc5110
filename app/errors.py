"""The errors of the service, each named for what is wrong; only HTTP knows status codes."""

from relevance_bayes.records.errors import ConflictError as ConflictError
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.errors import TooLargeError as TooLargeError
from relevance_bayes.records.errors import TrainingFailedError as TrainingFailedError


class MalformedBodyError(RelevanceError):
    """The body does not match its content type: invalid JSON, truncated Parquet, text that is not UTF-8."""


class UnauthenticatedError(RelevanceError):
    """The credential of the request is not valid any more."""


class CrossSiteError(RelevanceError):
    """The request may be sent by a page of this service alone, and came from another."""


class MisdirectedError(RelevanceError):
    """The request is for a host that this service does not serve."""


class GoneError(RelevanceError):
    """The resource was removed, by retention or by request."""


class InUseError(ConflictError):
    """The resource to be deleted is in use: by an unfinished job, which may be to add to it, or by an alias."""


class PreconditionFailedError(RelevanceError):
    """The resource does not match the condition of the request."""


class KeyReusedError(RelevanceError):
    """The idempotency key was used with another request."""


class KeyInUseError(RelevanceError):
    """The first request with this idempotency key is still being processed; retry later."""


class TooManyJobsError(RelevanceError):
    """The owner has the maximum number of unfinished jobs; retry later."""


class QuotaExceededError(RelevanceError):
    """The owner has as many datasets, bytes or models as its limits permit."""


class RateLimitError(RelevanceError):
    """The owner sends more requests, or predicts more rows, a second than its limit; retry after some seconds."""

    def __init__(self, detail: str, *, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class TrainingTimeError(RateLimitError):
    """The training jobs of the owner have run for as long as its limit of a day permits."""


class NotInstalledError(RelevanceError):
    """The request needs a package that is not installed."""


class UnavailableError(RelevanceError):
    """The database or the queue can't be reached; retry later."""


class StorageFullError(UnavailableError):
    """A disk is full: that of the database, or of the spool directory."""


class OutOfReachError(UnavailableError):
    """The database is known to be unreachable: no connection was attempted."""


class ClientLeftError(RelevanceError):
    """The client closed the connection during its request; the status appears in logs alone."""
