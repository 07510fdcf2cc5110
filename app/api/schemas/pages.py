"""Parameters of keyset pages, and of waiting."""

from typing import Annotated

from fastapi import Query

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of the answer.")]
After = Annotated[str | None, Query(description="`after` of the page before; without it, the first page.")]

LONGEST_WAIT = 60.0
Wait = Annotated[
    float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for something new before answering as it is.")
]
