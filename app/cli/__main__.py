"""`python -m app.cli`: the same command where the script is not on the path."""

from app.cli.commands import main

main()
