"""Rows and predictions on lines."""

import json
from collections.abc import Sequence

from tests.formats.samples.json import FlatRow, flat


def written(rows: Sequence[FlatRow]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def read(content: bytes, names: Sequence[str]) -> list[FlatRow]:
    return [flat(json.loads(line)) for line in content.splitlines()]
