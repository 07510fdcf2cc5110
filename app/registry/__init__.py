"""Models, their versions, aliases, tags and lineage."""
