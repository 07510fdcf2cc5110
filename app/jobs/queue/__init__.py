"""The adapter of the durable engine (DBOS): submit, cancel, state, and running what wiring hands it."""
