"""The number of threads of BLAS while estimators fit and predict."""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS has one thread, as in the service's workers.

    Threads of BLAS wait for each other by spinning, which on busy cores takes far longer than the computation, and
    the last digits of products depend on their number.
    """
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries that are loaded, whose search takes milliseconds."""
    return ThreadpoolController()
