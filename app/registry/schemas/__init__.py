"""The API's schemas of models, aliases and lineage, and the members of all versions."""
