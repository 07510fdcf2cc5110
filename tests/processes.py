"""How other processes are."""

import subprocess


def state(pid: int) -> str:
    """As `ps` says it: T is stopped, Z dead and not yet buried; empty when there is none."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout.strip()


def gone(pid: int) -> bool:
    """Whether it computes no more; its new parent may bury it when it likes."""
    return state(pid)[:1] in {"", "Z"}


def stopped(pid: int) -> bool:
    """Whether SIGSTOP has reached it."""
    return state(pid).startswith("T")
