"""`relevance check worker`: the health check of the workers on this host."""

import time

from app.jobs.worker.health_check import default_directory, healthy_workers
from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse


def check_worker(settings: Settings) -> None:
    """List the healthy workers whose files are in the spool directory; raises typer.Exit(1) where there is none."""
    directory = settings.spool_directory or default_directory()
    try:
        found = healthy_workers(str(directory), now=time.monotonic())
    except OSError as error:
        refuse(f"The spool directory can't be read: {error}.\nRELEVANCE_SPOOL_DIRECTORY sets it.")
    if not found:
        refuse(f"No worker with files in {directory} has written a heartbeat in time.")
    echo(f"Healthy: {', '.join(found)}")
