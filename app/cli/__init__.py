"""The command `relevance`. What a command needs is imported when it runs, so that `relevance --help` is quick."""

from app.cli.commands import main

__all__ = ["main"]
