"""Ending with the process that started us, on every system: its end of our standard input closes when it is gone."""

import os
import threading
from collections.abc import Callable

STANDARD_INPUT = 0


def end_with_standard_input(end: Callable[[], None]) -> None:
    """Call `end` in a thread once standard input is at its end."""

    def listen() -> None:
        # Not sys.stdin: a thread that waits within its lock makes the interpreter abort at exit.
        while os.read(STANDARD_INPUT, 4096):
            pass
        end()

    threading.Thread(target=listen, name="end-with-standard-input", daemon=True).start()
