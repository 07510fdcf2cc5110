"""`relevance check worker`: the health check of the workers on this host."""

import time

from app.cli.database import usable_settings
from app.jobs.worker.health_check import default_directory, healthy_workers
from relevance_bayes.cli.console import echo, refuse


def check_worker() -> None:
    """Exit with 0 where a worker with this spool directory has sent a recent heartbeat."""
    settings = usable_settings()
    directory = settings.spool_directory or default_directory()
    try:
        found = healthy_workers(str(directory), now=time.monotonic())
    except OSError as error:
        refuse(f"The spool directory can't be read: {error}.\nRELEVANCE_SPOOL_DIRECTORY sets it.")
    if not found:
        refuse(f"No worker with files in {directory} has written a heartbeat in time.")
    echo(f"Healthy: {', '.join(found)}")
