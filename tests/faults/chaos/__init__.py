"""The service in containers, all of which are killed: run by `make chaos`, not by pytest."""
