"""Threads share two heaps, and large arrays are in these, as glibc itself reports."""

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, os, sys, tempfile, threading
from app.malloc import tune_malloc

if sys.argv[1] == "shared":
    tune_malloc()
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


FAULTS = """
import resource, sys
from app.malloc import tune_malloc

if sys.argv[1] == "settled":
    tune_malloc()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for megabytes in range(1, 21):
    b"x" * (megabytes * 2**20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
PAGES_OF_MOST, PAGES_OF_ALL = 20 * 2**20 // 4096, 210 * 2**20 // 4096


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's heaps")
def test_what_was_freed_is_used_again_without_the_kernel() -> None:
    def faults(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert faults("settled") < 2 * PAGES_OF_MOST
    assert faults("as they are") > 0.9 * PAGES_OF_ALL
