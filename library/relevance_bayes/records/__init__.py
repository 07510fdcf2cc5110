"""The records of requests and responses; no module here imports numpy."""
