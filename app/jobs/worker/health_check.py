"""The health check of a worker: `python -I -S health_check.py [DIRECTORY]` exits with 0 where one is healthy.

A worker writes a health file into its spool directory after each heartbeat that the database has confirmed. Times in it
are monotonic seconds, which all processes and containers of one kernel share: changes of the clock have no effect.
This file imports nothing of the application, so that the check costs the start of an interpreter and no more.
"""

import os
import sys
import time

PREFIX, SUFFIX = "relevance-worker-", ".health"


def healthy_workers(directory: str, *, now: float) -> list[str]:
    """Return the executors whose heartbeat is not older than its limit at `now`; raises OSError.

    A time after `now` is from before the machine's last start.
    """
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                written, limit, executor = _content(entry.path)
                if 0 <= now - written <= limit:
                    found.append(executor)
    return sorted(found)


def _content(path: str) -> tuple[float, float, str]:
    try:
        with open(path) as file:  # noqa: PTH123  # the import of pathlib costs more than the rest of the check
            written, limit, executor = file.read().split()
        return float(written), float(limit), executor
    except (OSError, ValueError):  # it is removed or created at this moment, or it belongs to another user
        return 0.0, -1.0, ""


def default_directory() -> str:
    """Return the spool directory that the environment sets, or the system's directory for temporary files.

    The worker writes there, and waits where it cannot: `tempfile.gettempdir` would silently take another directory.
    """
    names = ("RELEVANCE_SPOOL_DIRECTORY", "TMPDIR", "TEMP", "TMP")
    return next((found for name in names if (found := os.environ.get(name))), "/tmp")


def main(arguments: list[str]) -> int:
    """Return the exit code of the check."""
    directory = arguments[0] if arguments else default_directory()
    try:
        found = healthy_workers(directory, now=time.monotonic())
    except OSError as error:
        sys.stderr.write(f"The spool directory can't be read: {error}.\n")
        return 1
    if not found:
        sys.stderr.write(f"No worker with files in {directory} has written a heartbeat in time.\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
