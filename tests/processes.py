"""The states of other processes."""

import subprocess
from pathlib import Path


def state(pid: int) -> str:
    """As `ps` prints it: T is stopped, Z dead and not yet reaped; empty when there is none."""
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return ""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip()


def has_exited(pid: int) -> bool:
    """Return whether it computes no more; its new parent may reap it later."""
    return state(pid)[:1] in {"", "Z"}


def stopped(pid: int) -> bool:
    """Return whether SIGSTOP has reached it."""
    return state(pid).startswith("T")


def children(pid: int) -> list[int]:
    """The processes that one has started and that are not gone."""
    shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    lines = (line.split() for line in shown.stdout.splitlines())
    return [int(line[0]) for line in lines if int(line[1]) == pid and not line[2].startswith("Z")]
