"""The errors of the core, each named for what is wrong, saying what was expected and what it got."""


class SparseBayesError(Exception):
    """Root of everything the core raises on purpose."""


class DataError(SparseBayesError):
    """The rows can't be learned from: wrong shapes, numbers that are not finite, too few rows."""


class ConstantTargetError(DataError):
    """All targets are the same number, so that there is nothing to explain and no noise to learn."""


class OneClassError(DataError):
    """All rows belong to one class."""


class TooManyCandidatesError(SparseBayesError):
    """Rows times candidates are more than whoever runs the fit allows."""


class UnfitWidthError(DataError):
    """By the kernel's width rows are all alike, or none is like another."""


class IllegalCombinationError(SparseBayesError):
    """Likelihood, basis, prior and algorithm can't be used together; `field` names the one to change."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field


class NotPositiveDefiniteError(SparseBayesError):
    """A matrix that has to be positive definite is not, in floating point."""
