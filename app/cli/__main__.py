"""`python -m app.cli`: the command `relevance` where the script is not on the path."""

from app.cli.commands import main

main()
