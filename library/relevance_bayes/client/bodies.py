"""Contents and headers of requests, and records of responses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import httpx

from relevance_bayes.client.drivers import Content, Query
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.json import Form, FormOrClass, dumps, form_of
from relevance_bayes.client.retries import retry_after
from relevance_bayes.records.formats import content_encoding_of

T = TypeVar("T")

_PROBLEM: Form[Problem] = Form(Problem)


def key_header(key: str | None) -> dict[str, str]:
    """Return the idempotency header."""
    text = str(uuid4() if key is None else key).replace("\\", "\\\\").replace('"', '\\"')
    return {"Idempotency-Key": f'"{text}"'}


def json_header(body: object) -> dict[str, str]:
    """Return the media type of a JSON body, nothing for none."""
    return {} if body is None else {"Content-Type": "application/json"}


def body_headers(content: Content) -> dict[str, str]:
    """Return the length where httpx does not determine it, and the encoding of a compressed file by its suffix."""
    match content:
        case Path():
            encoding = content_encoding_of(content)
            length = {"Content-Length": str(content.stat().st_size)}
            return length if encoding is None else {**length, "Content-Encoding": encoding}
        case bytes() | None:
            return {}
        case _:
            return {"Content-Length": str(sum(map(len, content)))}


def parameters(members: Mapping[str, object]) -> Query:
    """Return members of a request as parameters of a URL, without those that are None; objects, and lists of others
    than texts, are JSON."""
    return {name: _parameter(value) for name, value in members.items() if value is not None}


def _parameter(value: object) -> str | int | float | list[str]:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    return dumps(value)


def encoded(body: object) -> bytes | None:
    """Return a body as JSON; raises ClientError."""
    if body is None:
        return None
    try:
        return dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as broken:
        raise ClientError(Problem(title="Not JSON", detail=f"The value has no JSON form: {broken}")) from broken


def decoded(response: httpx.Response, form: FormOrClass[T]) -> T:
    """Return the record in a response; raises ClientError for another one."""
    try:
        return form_of(form).read(response.content)
    except ValueError as broken:
        detail = f"Expected a response of Relevance from {response.request.url}, got another: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail, status=response.status_code)) from broken


def refusal(response: httpx.Response) -> ClientError:
    """Return the error of an unsuccessful response."""
    return ClientError(_problem(response), retry_after=retry_after(response.headers))


def _problem(response: httpx.Response) -> Problem:
    try:
        return _PROBLEM.read(response.content)
    except ValueError:
        detail = f"{response.request.url} responded with {response.status_code} {response.reason_phrase}".rstrip()
        return Problem(title=response.reason_phrase, detail=detail, status=response.status_code)
