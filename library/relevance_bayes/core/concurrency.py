"""Independent parts of a computation on several threads, with the results of one thread to the bit.

numpy's passes and products release the interpreter lock, and so do the routines of `lapack`: parts of some hundred rows
run at once. Each part is computed by one thread in the order of its own operations, so that their number changes
nothing.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, Self, TypeVar, overload

S = TypeVar("S")
R = TypeVar("R")
T = TypeVar("T")
O = TypeVar("O")  # noqa: E741 - the owner of an attribute


class lazy(Generic[O, T]):  # noqa: N801 - a decorator, as `functools.cached_property` is
    """An attribute that is computed when it is first read, without a lock.

    `functools.cached_property` of Python 3.11 has one lock for the attribute of all instances: threads that factorise
    matrices of their own would wait for each other. Two threads that read the same instance at once compute it twice.
    """

    def __init__(self, compute: Callable[[O], T]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[O]) -> Self: ...

    @overload
    def __get__(self, instance: O, owner: type[O]) -> T: ...

    def __get__(self, instance: O | None, owner: type[O]) -> Self | T:
        """The value, which from then on is found before this method is called."""
        if instance is None:
            return self
        value = self.compute(instance)
        vars(instance)[self.name] = value
        return value


@dataclass(frozen=True)
class _Step(Generic[S]):
    """A value that a part yields."""

    value: S


@dataclass(frozen=True)
class _End(Generic[R]):
    """The result that a part returns."""

    result: R


@dataclass(eq=False)
class _Part(Generic[S, R]):
    """A generator that one thread runs; another one takes its values from `queue`."""

    generator: Generator[S, None, R]
    queue: "SimpleQueue[_Step[S] | _End[R] | BaseException]" = field(default_factory=SimpleQueue)
    is_stopped: bool = False

    def run(self) -> None:
        """Run to the end, or until it is stopped."""
        try:
            while not self.is_stopped:
                self.queue.put(_Step(next(self.generator)))
            self.generator.close()
        except StopIteration as end:
            self.queue.put(_End(end.value))
        except BaseException as error:  # noqa: BLE001 - raised where the part's values are taken
            self.queue.put(error)

    def steps(self) -> Generator[S, None, R]:
        """The values as they come, then the result; raises the error of the part."""
        while True:
            match self.queue.get():
                case _Step(value):
                    yield value
                case _End(result):
                    return result
                case error:
                    raise error


def concurrently(parts: Sequence[Generator[S, None, R]], threads: int) -> Generator[S, None, list[R]]:
    """Run independent generators, `threads` at a time; return their results in the order of `parts`.

    What they yield is yielded in that order too: with any number of threads the values are the same. An error is that
    of the first part that has one. Where this generator is closed the parts end at their next value.
    """
    if threads == 1 or len(parts) < 2:
        results = []
        for part in parts:
            results.append((yield from part))
        return results
    own = [_Part(part) for part in parts]
    with ThreadPoolExecutor(min(threads, len(own))) as pool:
        try:
            for one in own:
                pool.submit(copy_context().run, one.run)
            results = []
            for one in own:
                results.append((yield from one.steps()))
            return results
        finally:
            for one in own:
                one.is_stopped = True
