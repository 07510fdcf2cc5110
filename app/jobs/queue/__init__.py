"""The adapter of the durable queue (DBOS): submit, cancel, read the state, and run jobs."""
