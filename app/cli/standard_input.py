"""Shutdown at the end of standard input, which the parent process closes when it ends, on every system."""

import os
import threading
from collections.abc import Callable

STANDARD_INPUT = 0


def end_with_standard_input(end: Callable[[], None]) -> None:
    """Call `end` in a thread at the end of standard input."""

    def listen() -> None:
        # Not sys.stdin, whose lock makes the interpreter abort at exit while a thread waits in it.
        while os.read(STANDARD_INPUT, 4096):
            pass
        end()

    threading.Thread(target=listen, name="end-with-standard-input", daemon=True).start()
