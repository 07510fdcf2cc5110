"""Threads share two heaps, as glibc itself tells."""

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, os, sys, tempfile, threading
from app.cli.heaps import share_heaps

if sys.argv[1] == "shared":
    share_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
all_there = threading.Barrier(6)

def hold():
    libc.malloc(ctypes.c_size_t(1000))
    all_there.wait(30)

threads = [threading.Thread(target=hold) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile("r") as told:
    file = ctypes.c_void_p(libc.fopen(os.fsencode(told.name), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(told.read().count("<heap nr="))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's heaps")
def test_threads_share_two_heaps() -> None:
    def heaps(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", HEAPS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert heaps("shared") == 2
    assert heaps("as they are") > 2
