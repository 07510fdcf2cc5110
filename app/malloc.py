"""Settings of glibc's malloc for a process that serves or fits."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""The numbers by which glibc's `mallopt` knows its settings (malloc.h)."""

HEAPS = 2
MAX_IN_HEAPS = 32 * 2**20
MAX_KEPT = 64 * 2**20
"""Bytes at a heap's end that go back to the kernel only beyond this."""


def tune_malloc() -> None:
    """Limit the number of heaps (arenas) and let them keep freed memory, where the C library is glibc.

    By default threads have eight heaps for each core, each of which keeps what was freed in it: threads that read large
    bodies leave a process at twice its size, and are no quicker for it, since most of the time one of them runs. And
    arrays above 128 kB are the kernel's own at first, which hands out each page anew: for 100,000 rows in npy that is
    as much work as all predictions. A fit makes and frees matrices of a few MB all the time: on 600 rows it takes 1.6
    times as long otherwise.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, HEAPS)
        mallopt(M_MMAP_THRESHOLD, MAX_IN_HEAPS)
        mallopt(M_TRIM_THRESHOLD, MAX_KEPT)
