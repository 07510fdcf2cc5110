"""JSON as it is sent, and as it is answered where a client takes it as it is."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""A value of JSON."""

Choice = dict[str, object]
"""One member of a union of the API's, told apart by its `type` (or `by`)."""
