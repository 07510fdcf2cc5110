"""Calls that are defined once, as coroutines, and are methods of both clients: `Client` and `AsyncClient`.

Of `AsyncClient` a call is the coroutine. Of `Client` it is a function that runs the coroutine to its end: its driver
never suspends, so no event loop takes part, and it works within a running one, as in a notebook.
"""

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, overload

from relevance_bayes.client.drivers import finished
from relevance_bayes.client.http import Http

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")


Awaited: TypeAlias = Coroutine[object, None, T]
"""The coroutine that a call of `AsyncClient` returns."""


class Blocking:
    """The mode of `Client`: a call returns its result."""


class Asynchronous:
    """The mode of `AsyncClient`: a call returns a coroutine, a list an asynchronous generator."""


M = TypeVar("M")
"""A mode."""


@dataclass(frozen=True)
class Calls(Generic[M]):
    """Calls of one mode on a service; every method raises ClientError as those of `Client` do."""

    http: Http


class call(Generic[S, P, T]):  # noqa: N801 - a decorator
    """A method that is a call with one result."""

    def __init__(self, function: Callable[Concatenate[S, P], Awaited[T]]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[object]) -> Callable[Concatenate[S, P], Awaited[T]]: ...
    @overload
    def __get__(self, instance: Calls[Blocking], owner: type[object]) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Calls[Asynchronous], owner: type[object]) -> Callable[P, Awaited[T]]: ...
    def __get__(self, instance: Calls[Blocking] | Calls[Asynchronous] | None, owner: type[object]) -> object:
        if instance is None:
            return self.function
        bound: Callable[P, Awaited[T]] = self.function.__get__(instance, owner)
        if instance.http.driver.is_async:
            return bound

        @functools.wraps(bound)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            return finished(bound(*args, **kwargs))

        return run


class listing(Generic[S, P, T]):  # noqa: N801 - a decorator
    """A method that is a call with a result after the other: of `Client` an iterator."""

    def __init__(self, function: Callable[Concatenate[S, P], AsyncGenerator[T, None]]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[object]) -> Callable[Concatenate[S, P], AsyncGenerator[T, None]]: ...
    @overload
    def __get__(self, instance: Calls[Blocking], owner: type[object]) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, instance: Calls[Asynchronous], owner: type[object]) -> Callable[P, AsyncGenerator[T, None]]: ...
    def __get__(self, instance: Calls[Blocking] | Calls[Asynchronous] | None, owner: type[object]) -> object:
        if instance is None:
            return self.function
        bound: Callable[P, AsyncGenerator[T, None]] = self.function.__get__(instance, owner)
        if instance.http.driver.is_async:
            return bound

        @functools.wraps(bound)
        def run(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            return iterated(bound(*args, **kwargs))

        return run


def performed(http: Http, work: Awaited[T]) -> T | Awaited[T]:
    """Return the result of a coroutine, or itself where the driver is asynchronous: for calls with overloads."""
    return work if http.driver.is_async else finished(work)


def iterated(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """Yield the items of an asynchronous generator that never suspends; it is closed with this iterator."""
    try:
        while True:
            try:
                item = finished(_next(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        finished(items.aclose())


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await anext(items)
