"""Commands of a client of a running service: `relevance-client`, and part of the server's `relevance`.

Each command imports its dependencies when it runs, so that help pages are quick.
"""


def main() -> None:
    """The command `relevance-client`."""
    from relevance_bayes.cli.commands import application, run

    run(application)
