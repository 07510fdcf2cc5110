"""The tasks: from the rows of a table to a version, and from a version to predictions; nothing here is stored."""
