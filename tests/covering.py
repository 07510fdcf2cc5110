"""Cases of a parametrised test: each value of each parameter in one of them, but not all pairs of values."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import pytest

Case: TypeAlias = Mapping[str, Hashable]
"""A value for each parameter, by the parameter's name."""


def covering(cases: Sequence[Case], tried: Iterable[Case] = ()) -> list[int]:
    """Return places of cases that have, together with those tried anyway, every value of every parameter.

    Each next one has the most values that are in none before it; among equals, the values that were used least.
    """
    used = Counter(value for case in tried for value in case.items())
    chosen: list[int] = []
    while True:
        missing = {value for case in cases for value in case.items()} - used.keys()
        if not missing:
            return sorted(chosen)
        place = max(
            range(len(cases)),
            key=lambda at: (len(missing & cases[at].items()), -sum(used[value] for value in cases[at].items()), -at),
        )
        chosen.append(place)
        used.update(cases[place].items())


def case_of(item: pytest.Function) -> Case:
    """Return the identities of the values of an item's parameters; those that one decorator gives together are one."""
    decorators = {name: names_of(mark) for mark in item.iter_markers("parametrize") for name in names_of(mark)}
    together = {decorators.get(name, (name,)) for name in item.callspec.params}
    return {",".join(names): tuple(id(item.callspec.params[name]) for name in names) for names in together}


def names_of(mark: pytest.Mark) -> tuple[str, ...]:
    names = mark.args[0]
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)


def repeated(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield those marked `thorough` each of whose values another case of the same function has that is not `long`."""
    functions: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        is_long = item.get_closest_marker("long") is not None
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not is_long:
            functions[item.nodeid.partition("[")[0]].append(item)
    for group in functions.values():
        thorough = [item for item in group if item.get_closest_marker("thorough")]
        if len(thorough) > 1:
            tried = [case_of(item) for item in group if not item.get_closest_marker("thorough")]
            kept = covering([case_of(item) for item in thorough], tried)
            yield from (item for at, item in enumerate(thorough) if at not in {*kept})
