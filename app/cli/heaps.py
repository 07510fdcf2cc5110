"""How many heaps the threads of a process have."""

import ctypes

M_ARENA_MAX = -8
"""The number by which glibc's `mallopt` knows the limit of arenas, its heaps (malloc.h)."""

MOST = 2


def share_heaps() -> None:
    """Let all threads share two heaps, where the C library is glibc.

    By default it has eight for each core, each of which keeps what was freed in it: threads that read large bodies
    leave a process at twice its size, and are no quicker for it, since most of the time one of them runs.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, MOST)
