"""JSON bodies: decoding, and the bounds of their containers and members."""

import json
import re
import threading
import time
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NoReturn

import msgspec

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import JSON, MAX_FAULTS, MAX_FAULTS_REPORTED, not_finite, out_of_range, refuse, shown
from relevance_bayes.records.errors import Fault, InvalidDataError, pointer

MAX_DEPTH = 64
"""The maximum depth of nested objects and arrays."""

MAX_BYTES_EXPLAINED = 2**21
"""The maximum size of a body that is decoded a second time to explain an error: the standard library's decoder holds
the GIL and takes several times as long."""

LARGE_BYTES = 2**20
PAUSE_SECONDS = 2e-3
"""The minimum pause between two decodings of large bodies, in which the event loop runs."""

_LARGE = threading.Lock()
_PLACE = re.compile(r"\(byte (\d+)\)")
_NOT_FINITE = re.compile(rb"-?Infinity|NaN")
TOO_DEEP = f"Expected at most {MAX_DEPTH} nested objects and arrays, got more."
_CONSTANTS = frozenset({"NaN", "Infinity", "-Infinity"})
_PLAIN = frozenset({int, float, bool, type(None)})


def decode(body: bytes) -> JSON:
    """Return the value of a JSON body.

    Repeated keys, which decoders drop silently, are found by counting: without escapes each string and key has two
    quotation marks, so the body has more of them than the decoded value needs. This costs a fraction of the decoding.
    Raises MalformedBodyError, also above `MAX_DEPTH`, or InvalidDataError for NaN, Infinity and numbers that float64
    can't represent.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    if len(body) > LARGE_BYTES:
        # A decoding blocks the event loop, so another one must not follow at once.
        with _LARGE:
            time.sleep(PAUSE_SECONDS)
            return _decode(body)
    return _decode(body)


def _decode(body: bytes) -> JSON:
    try:
        value: JSON = msgspec.json.decode(body)
        texts = _count_texts(value, 0)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _explain(body, error)
    escaped = body.replace(b"\\\\", b"").count(b'\\"') if b"\\" in body else 0
    if body.count(b'"') - escaped != 2 * texts:
        if len(body) > MAX_BYTES_EXPLAINED:
            raise MalformedBodyError("The body repeats a key within one object.")
        _name_the_repeated_key(body)
    return value


def _count_texts(value: JSON, depth: int) -> int:
    """Return the number of strings and keys in a value at this depth."""
    if isinstance(value, str):
        return 1
    if isinstance(value, dict):
        return len(value) + _count_among(value.values(), depth + 1)
    if isinstance(value, list):
        return _count_among(value, depth + 1)
    return 0


def _count_among(values: Collection[JSON], depth: int) -> int:
    if depth > MAX_DEPTH:
        raise RecursionError
    types = {*map(type, values)}
    if types <= _PLAIN:
        return 0
    return len(values) if types == {str} else sum(_count_texts(value, depth) for value in values)


def _name_the_repeated_key(body: bytes) -> None:
    repeated: dict[str, None] = {}

    def look(pairs: list[tuple[str, JSON]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen and len(repeated) < MAX_FAULTS_REPORTED:
                repeated[key] = None
            seen.add(key)

    json.loads(body, object_pairs_hook=look)
    if repeated:
        names = ", ".join(map(shown, repeated))
        raise MalformedBodyError(
            f"The body repeats a key within one object: {names}.",
            [Fault(f"The key {shown(key)} is repeated.", column=key) for key in repeated],
        )


class _NotFinite(str):
    """The token of a non-finite number, in the place of its value."""

    __slots__ = ()


def _number(token: str) -> float | _NotFinite:
    value = float(token)
    return value if abs(value) != float("inf") else _NotFinite(token)


def _explain(body: bytes, error: Exception) -> NoReturn:
    """Raise the error, with its position, of a body that could not be decoded."""
    if isinstance(error, RecursionError):
        raise MalformedBodyError(TOO_DEEP) from None
    if not body.strip():
        raise MalformedBodyError("The body is empty.") from None
    if len(body) > MAX_BYTES_EXPLAINED:
        _explain_shortly(body, error)
    try:
        value = json.loads(body.decode(), parse_constant=_NotFinite, parse_float=_number)
    except UnicodeDecodeError as broken:
        raise MalformedBodyError(f"The body is not UTF-8: byte {broken.start} is 0x{body[broken.start]:02x}.") from None
    except json.JSONDecodeError as broken:
        where = f"line {broken.lineno}, column {broken.colno}"
        faults = [Fault(f"{broken.msg} at {where}.", line=broken.lineno)]
        raise MalformedBodyError(f"The body is not JSON: {broken.msg} at {where}.", faults) from None
    except RecursionError:
        raise MalformedBodyError(TOO_DEEP) from None
    except ValueError:  # an integer with more digits than Python converts
        raise MalformedBodyError("The body has an integer of thousands of digits.") from None
    refuse([_fault(path, found) for path, found in islice(_not_finite(value, ()), MAX_FAULTS)])
    if _is_half(value):
        raise MalformedBodyError("The body has an unpaired surrogate, which is not a character.") from None
    raise MalformedBodyError(f"The body is not JSON: {error}.") from None


def _explain_shortly(body: bytes, error: Exception) -> NoReturn:
    """Raise the error of a long body by the decoder's own message."""
    found = _PLACE.search(str(error))
    place = 0 if found is None else int(found[1])
    token = _NOT_FINITE.match(body, place - body.endswith(b"-", 0, place))
    if token is not None:
        raise InvalidDataError(f"{not_finite(token[0].decode())} It is at byte {token.start()}.") from None
    if "out of range" in str(error):
        raise InvalidDataError(f"The body has a number that can't be represented: {error}.") from None
    raise MalformedBodyError(f"The body is not JSON: {error}.") from None


def _is_half(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _not_finite(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], _NotFinite]]:
    if len(path) > MAX_DEPTH:
        raise MalformedBodyError(TOO_DEEP)
    if isinstance(value, _NotFinite):
        yield path, value
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in parts:
        if isinstance(inner, dict | list | _NotFinite):
            yield from _not_finite(inner, (*path, step))


def _fault(path: tuple[str | int, ...], token: _NotFinite) -> Fault:
    """Return a fault at `path`: in a table, its row and, if the path has one, its column."""
    is_constant = token in _CONSTANTS
    in_table = not_finite(token) if is_constant else out_of_range(token)
    match path:
        case ("columns", str(column), int(row)) | ("rows", int(row), str(column)):
            return Fault(in_table, pointer=pointer(path), row=row, column=column)
        case ("rows", int(row), int()):
            return Fault(in_table, pointer=pointer(path), row=row)
        case _:
            detail = f"{token} is not a finite number." if is_constant else in_table
            return Fault(detail, pointer=pointer(path))


MAX_UNCHECKED = 50_000
"""The number of colons up to which a body is decoded without a check: its objects have no more members in all."""

CHUNK_BYTES = 2**20
"""The number of bytes scanned at once; the GIL is released between two chunks."""

MAX_CONTAINERS = 1_000_000
"""The maximum number of objects and arrays of a JSON body: each takes a hundred bytes or more, but may be sent as two.
"""

MAX_CONTAINERS_OF_A_LINE = 8
"""The maximum for a line of NDJSON: a row is one object, and none of its cells may be an object or an array."""

_BRACE = re.compile(rb"[{}]")
_TOO_DEEP = re.compile(rb"[{[]{%d}" % (MAX_DEPTH + 2))


def check_members(body: bytes, max_members: int) -> None:
    """Raise InvalidDataError for an object of more than `max_members` members, MalformedBodyError for too deep nesting.

    A decoder is one call during which nothing else in the process runs: a million members of one object take most of a
    second. This ends at the first chunk with too many, and takes a fraction of the decoder's time (32 MB of rows: 0.2
    s, where a step of Python for each object takes 0.9 s). The decoder reports malformed JSON.
    """
    if body.count(b":") <= MAX_UNCHECKED:
        return
    closed = re.compile(rb"\{:{0,%d}\}" % max_members)
    outer: list[int] = []
    members = 0
    for whole in _structures(body, b"{}:"):
        structure = closed.sub(b"", whole)  # most objects contain no other one and need no step of Python
        end = 0
        for brace in _BRACE.finditer(structure):
            members += brace.start() - end  # between two braces, each colon is of a member
            end = brace.end()
            _check(members, max_members)
            if brace[0] == b"{":
                if len(outer) > MAX_DEPTH:
                    raise MalformedBodyError(TOO_DEEP)
                outer.append(members)
                members = 0
            elif outer:
                members = outer.pop()
            else:
                return
        members += len(structure) - end
        _check(members, max_members)


def check_containers(body: bytes, max_containers: int = MAX_CONTAINERS) -> None:
    """Raise TooLargeError for too many objects and arrays, MalformedBodyError where they are nested too deeply.

    32 MB of `{}` are 10 million objects, for which a decoder takes a gigabyte and blocks the process for seconds. This
    ends at the first chunk with too many; a body with few costs two counts of a character.
    """
    if len(body) <= 2 * max_containers or body.count(b"{") + body.count(b"[") <= max_containers:
        return
    containers = 0
    for opened_and_closed in _structures(body, b"{}[]"):
        if _TOO_DEEP.search(opened_and_closed):
            raise MalformedBodyError(TOO_DEEP)
        containers += opened_and_closed.count(b"{") + opened_and_closed.count(b"[")
        if containers > max_containers:
            raise TooLargeError(f"Expected at most {max_containers:,} objects and arrays, got more.")


def _check(members: int, max_members: int) -> None:
    if members > max_members:
        detail = f"Expected objects of at most {max_members:,} members, got more."
        raise InvalidDataError(detail, [Fault(detail, pointer="")])


def _structures(body: bytes, kept: bytes) -> Iterator[bytes]:
    """Yield the structural characters `kept` of each chunk of a body, without those within strings."""
    dropped = bytes({*range(256)} - {*kept, *b'",:'})
    start = is_within_string = 0
    while start < len(body):
        chunk = body[start : start + CHUNK_BYTES]
        if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:  # the last escape sequence is divided
            chunk += body[start + len(chunk) : start + len(chunk) + 1]
        start += len(chunk)
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
        # A comma or a colon is between two strings; without those, each pair of marks is of one string.
        parts = chunk.translate(None, dropped).replace(b'""', b"").split(b'"')
        yield b"".join(parts[is_within_string::2]).translate(None, bytes({*b",:"} - {*kept}))
        is_within_string ^= (len(parts) - 1) & 1
