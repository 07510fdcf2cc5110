"""JSON of requests, and of responses that the client does not convert."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""A JSON value."""

Choice = dict[str, object]
"""A member of one of the API's unions, discriminated by its `type` (or `by`)."""
