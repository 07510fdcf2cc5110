"""Errors of maintenance, each named for what is wrong."""

from relevance_bayes.types.errors import RelevanceError


class BackupError(RelevanceError):
    """The backup can't be written, or the file is not a whole backup that this release restores."""


class NotEmptyError(RelevanceError):
    """The database to write into has content."""
