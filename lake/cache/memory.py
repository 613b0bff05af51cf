"""Keep a process from holding on to memory that a compaction, a large read or loading a model has finished with."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# Well above what is taken and given back for every batch of records: each such block would be mapped and unmapped anew.
_THRESHOLD_BYTES = 512 * 1024


def give_memory_back() -> None:
    """Have this process return freed memory to the system.

    By default glibc raises the size from which it asks the system for a block of its own whenever such a block is freed,
    and keeps a heap for each thread; after a few compactions the freed memory lies in pieces all over them. Measured: 220
    MiB instead of 390 in a cache writer, 70 MiB less after loading the model. Another C library is left alone.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 2)
        mallopt(_M_MMAP_THRESHOLD, _THRESHOLD_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _THRESHOLD_BYTES)
