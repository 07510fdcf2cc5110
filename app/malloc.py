"""Settings of glibc's malloc for processes that serve or fit."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""The parameters of glibc's `mallopt` (malloc.h)."""

HEAPS = 2
MAX_IN_HEAPS = 32 * 2**20
MAX_KEPT = 64 * 2**20
"""The number of free bytes at the end of a heap above which they are returned to the kernel."""


def release_memory() -> None:
    """Return freed memory to the kernel: that of Arrow, where it is loaded, and that of malloc in the C library."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def tune_malloc() -> None:
    """Limit the number of heaps (arenas) and let them keep freed memory, where the C library is glibc.

    By default glibc makes eight heaps a core, each of which keeps freed memory. Threads that read large bodies then
    double the size of a process and are no faster, since mostly one of them runs at a time. Arrays above 128 kB are at
    first mapped by the kernel page by page, which for 100,000 rows in npy costs as much as all predictions. A fit
    allocates and frees matrices of a few MB: with the defaults a fit of 600 rows takes 1.6 times as long.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, HEAPS)
        mallopt(M_MMAP_THRESHOLD, MAX_IN_HEAPS)
        mallopt(M_TRIM_THRESHOLD, MAX_KEPT)
