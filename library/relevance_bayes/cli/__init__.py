"""Commands that speak to a running service: `relevance-client`, and part of the server's `relevance`.

What a command needs is imported when it runs, so that help pages are quick.
"""


def main() -> None:
    """The command `relevance-client`."""
    from relevance_bayes.cli.commands import application

    application()
