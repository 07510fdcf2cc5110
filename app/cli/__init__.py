"""The command `relevance`. Each command imports what it needs when it runs, so that `relevance --help` is quick."""

from app.cli.commands import main

__all__ = ["main"]
