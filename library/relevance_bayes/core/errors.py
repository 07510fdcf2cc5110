"""The errors of the core, named for what is wrong; messages have the expected and the actual value."""


class SparseBayesError(Exception):
    """The base of all errors of the core."""


class DataError(SparseBayesError):
    """The rows can't be learned from: wrong shapes, numbers that are not finite, too few rows."""


class ConstantTargetError(DataError):
    """All targets are the same number, so that there is nothing to explain and no noise to learn."""


class OneClassError(DataError):
    """All rows belong to one class."""


class TooManyCandidatesError(SparseBayesError):
    """Rows times candidates exceed the limit of the caller."""


class UnfitWidthError(DataError):
    """At the kernel's width all rows are equal, or all are independent."""


class IllegalCombinationError(SparseBayesError):
    """Likelihood, basis, prior and algorithm can't be used together; `field` names the one to change."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field


class NotPositiveDefiniteError(SparseBayesError):
    """A matrix that has to be positive definite is not, in floating point."""
