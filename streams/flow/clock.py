"""The machine's clock."""

import time


class SystemClock:
    """Wall-clock time for what travels between machines, monotonic time for durations within one."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
