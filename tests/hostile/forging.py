"""Documents of versions with members dropped, repeated, exchanged and replaced, drawn by a seeded generator."""

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import TypeAlias

from tests.hostile.mutations import mutated

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Document: TypeAlias = dict[str, Json]
Parent: TypeAlias = dict[str, Json] | list[Json]
Place: TypeAlias = tuple[Parent, str | int]
Forge: TypeAlias = Callable[[Random, Document, Sequence[Document]], None]

RAW = "@raw@"
"""Marks a text that is in the document without its quotation marks."""

TOKENS = ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 400, "1E-400", "-0", "-0.0", "0.1e1")
NUMBERS: tuple[Json, ...] = (
    0, -1, 1, 2, 3, 0.5, 1e-300, -1e-300, 5e-324, 1e-8, 1e8, 1e150, 1e154, 1e155, 1e300, 1e308, -1e308,
    1.7976931348623157e308, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30,
)  # fmt: skip
TEXTS: tuple[Json, ...] = (
    "", "a\0b", "\0", "\n", "a" * 5_000, "NaN", "1", "true", "null", "{}", "__import__('os')", "builtins.eval",
    "relevance_bayes.core.kernels.Gaussian", "numpy.ndarray", "gaussian", "student_t", "bernoulli", "number",
    "category", "regression", "classification", "approximation", "components", "evidence", "../../etc/passwd", "\u202e",
    "2024-05-01T13:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "01900000-0000-7000-8000-000000000001",
)  # fmt: skip
OTHERS: tuple[Json, ...] = (None, True, False, [], {}, [[]], [None], {"": None}, {"type": "gaussian"})
FACTORS = (-1.0, 0.0, 1e-300, 1e-150, 1e-8, 0.5, 2.0, 1e8, 1e150, 1e300)
MEMBERS = ("__class__", "py/object", "type", "array", "$ref", "__proto__", "", "a\0", "x" * 300)
DEPTHS = (8, 40, 63, 64, 65, 500)


def places(value: Json) -> Iterator[Place]:
    """Where each member and element of a value stands; of a long list the first, the last and few between."""
    match value:
        case dict():
            for name, one in value.items():
                yield value, name
                yield from places(one)
        case list():
            for position in range(0, len(value), max(1, len(value) // 4)):
                yield value, position
                yield from places(value[position])
        case _:
            return


def at(place: Place) -> Json:
    """Return the value at a place."""
    parent, where = place
    if isinstance(parent, dict):
        return parent[str(where)]
    return parent[int(where)]


def put(place: Place, value: Json) -> None:
    """Replace the value at a place."""
    match place:
        case dict() as parent, str() as name:
            parent[name] = value
        case list() as parent, int() as position:
            parent[position] = value


def drawn(random: Random, document: Document, kind: type | tuple[type, ...] = object) -> Place:
    """Return a place whose value is of a kind, or any where there is none."""
    every = [*places(document)]
    fitting = [place for place in every if isinstance(at(place), kind) and not isinstance(at(place), bool)]
    return random.choice(fitting or every)


def drop(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Remove a member or an element."""
    match drawn(random, document):
        case dict() as parent, str() as name:
            del parent[name]
        case list() as parent, int() as position:
            del parent[position]


def repeat(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Repeat an element, or put a member's value at another member's place."""
    place = drawn(random, document)
    match place:
        case list() as parent, int() as position:
            parent[position:position] = deepcopy(parent[position : position + 1]) * random.choice((1, 1, 2, 1_000))
        case dict() as parent, _:
            parent[random.choice([*parent])] = deepcopy(at(place))


def number(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put another number where one stands."""
    put(drawn(random, document, (int, float)), random.choice(NUMBERS))


def token(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put a token where a number stands that JSON does not have, or that no float64 holds."""
    put(drawn(random, document, (int, float)), RAW + random.choice(TOKENS))


def text(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put another text where one stands."""
    put(drawn(random, document, str), random.choice(TEXTS))


def other_type(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put a value of any type anywhere."""
    put(drawn(random, document), deepcopy(random.choice((*OTHERS, *TEXTS, *NUMBERS))))


def scale(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Multiply all numbers of a list by a factor, to the greatest that float64 holds."""
    place, factor = drawn(random, document, list), random.choice(FACTORS)
    put(place, _scaled(at(place), factor))


def _scaled(value: Json, factor: float) -> Json:
    match value:
        case bool():
            return value
        case float():
            return max(-1.7976931348623157e308, min(1.7976931348623157e308, value * factor))
        case list():
            return [_scaled(one, factor) for one in value]
        case _:
            return value


def shuffle(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put a list in another order."""
    found = at(drawn(random, document, list))
    if isinstance(found, list):
        random.shuffle(found)


def shorten(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Cut a list."""
    found = at(drawn(random, document, list))
    if isinstance(found, list):
        del found[random.randint(0, len(found)) :]


def deepen(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Put a value into many lists or objects."""
    place = drawn(random, document)
    value = at(place)
    is_list = random.random() < 0.5
    for _depth in range(random.choice(DEPTHS)):
        value = [value] if is_list else {"a": value}
    put(place, value)


def foreign_member(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Add a member that the schema does not have."""
    found = at(drawn(random, document, dict))
    if isinstance(found, dict):
        found[random.choice(MEMBERS)] = deepcopy(random.choice((*OTHERS, *TEXTS)))


def graft(random: Random, document: Document, others: Sequence[Document]) -> None:
    """Put what another document has under a member's name in its place."""
    place, other = drawn(random, document), random.choice(others)
    name = place[1] if isinstance(place[1], str) else "functions"
    donors = [one for one in places(other) if one[1] == name]
    if donors:
        put(place, deepcopy(at(random.choice(donors))))


def repeat_key(random: Random, document: Document, _: Sequence[Document]) -> None:
    """Repeat a member's name within its object."""
    found = at(drawn(random, document, dict))
    if isinstance(found, dict) and found:
        found[RAW + random.choice([*found])] = random.choice(OTHERS)


FORGES: Sequence[Forge] = (
    drop, drop, repeat, number, number, number, number, token, text, text, other_type, other_type, scale, scale,
    shuffle, shorten, deepen, foreign_member, graft, graft, graft, repeat_key,
)  # fmt: skip


def rendered(document: Json) -> bytes:
    """Return a document as JSON, its marked texts without their quotation marks."""
    content = json.dumps(document, ensure_ascii=False, allow_nan=True)
    for one in TOKENS:
        content = content.replace(json.dumps(RAW + one), one)
    return content.replace(f'"{RAW}', '"').encode()


def forged(random: Random, document: Document, others: Sequence[Document]) -> Document:
    """Return a copy of a document with one to three things changed."""
    copy = deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(FORGES)(random, copy, others)
        if not copy:
            break
    return copy


def forged_npz(random: Random, archive: bytes) -> bytes:
    """Return an archive of which one member is damaged, missing, repeated or exchanged, or the whole is."""
    if random.random() < 0.3:
        return mutated(random, archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as complete:
        members = {name: complete.read(name) for name in complete.namelist()}
    name, other = random.choice([*members]), random.choice([*members])
    match random.randrange(5):
        case 0:
            members[name] = mutated(random, members[name])
        case 1:
            del members[name]
        case 2:
            members[name], members[other] = members[other], members[name]
        case 3:
            members[random.choice(("../x.npy", "model/x.npy", "x", "x" * 300, name.upper()))] = members[name]
        case _:
            members[name] = members[name][:-8] + random.choice((bytes(8), b"\xff" * 8, b"\0" * 6 + b"\xf0\x7f"))
    return zipped(members, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def zipped(members: Mapping[str, bytes], method: int) -> bytes:
    """Return an archive of members."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def not_finite(value: object) -> bool:
    """Return whether a number somewhere in a decoded response is NaN or infinite."""
    match value:
        case float():
            return not math.isfinite(value)
        case dict():
            return any(map(not_finite, value.values()))
        case list():
            return any(map(not_finite, value))
        case _:
            return False
