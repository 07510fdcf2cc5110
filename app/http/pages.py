"""Query parameters of keyset pagination and long polling."""

from typing import Annotated

from fastapi import Query

Limit = Annotated[int, Query(ge=1, le=1000, description="The maximum number of items.")]
After = Annotated[str | None, Query(description="`after` of the previous page; without it, the first page.")]

MAX_WAIT_SECONDS = 60.0
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Maximum seconds to wait for a change (long polling).")
]
