"""A stop that a signal requests is never missed by the thread that waits for it."""

import subprocess
import sys

import pytest

ANOTHER_THREAD_TAKES_THE_SIGNAL = """
import signal, threading, time
from app.cli.shutdown import StopRequest
request = StopRequest.by_signals(lambda: print("handled", flush=True))
def send():
    time.sleep(0.3)
    signal.pthread_kill(threading.get_ident(), signal.{name})
    time.sleep(60)
threading.Thread(target=send, daemon=True).start()
assert not request.wait(0.01)
assert request.wait(30)
assert request.wait()
"""
"""The main thread's system call isn't interrupted: as where the signal arrives just before the thread blocks."""

SET_IN_THE_HANDLER = """
import signal
from app.cli.shutdown import StopRequest
request = StopRequest.by_signals(lambda: [request.set() for _ in range(100_000)])
signal.setitimer(signal.ITIMER_REAL, 30)
signal.raise_signal(signal.SIGTERM)
signal.raise_signal(signal.SIGTERM)
assert request.wait()
"""

SET_BY_ANOTHER_THREAD = """
import threading
from app.cli.shutdown import StopRequest
request = StopRequest()
assert not request.wait(0)
threading.Timer(0.05, request.set).start()
assert request.wait(30)
assert request.wait(0)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_interrupts_no_system_call_of_the_main_thread_ends_its_wait(name: str) -> None:
    program = ANOTHER_THREAD_TAKES_THE_SIGNAL.format(name=name)
    ended = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "handled\n", "")


@pytest.mark.parametrize("program", [SET_IN_THE_HANDLER, SET_BY_ANOTHER_THREAD], ids=["handler", "thread"])
def test_a_stop_may_be_requested_in_the_handler_and_by_another_thread(program: str) -> None:
    ended = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
