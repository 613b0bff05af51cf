"""One way of logging: our own lines by structlog, the libraries' by the same renderer, and a lid on both.

In an outage aiokafka writes thousands of lines in seconds. Each library's message may come through once in a while; what was
left out is counted and said with the next one.
"""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from groundwire.schemas.settings import LogSettings

LIBRARIES = ("aiokafka", "faust", "mode", "kafka", "asyncio", "httpx", "httpcore")
SAME_LINE_EVERY_S = 10.0
LINES_A_SECOND = 3.0
BURST = 5.0
MAX_REMEMBERED = 500

# Faust says each of these while it works as it should.
LIBRARY_LEVEL = logging.WARNING


class RateLimit(logging.Filter):
    """Lets each message of a library through once in `SAME_LINE_EVERY_S`, and all of them a few times a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._left_out: dict[tuple[str, str], int] = {}
        self._allowance = BURST
        self._refilled = clock()

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        # The template, not the filled-in text: addresses and counters differ from line to line.
        line = (record.name, str(record.msg)[:200])
        last = self._last.get(line)
        if (last is not None and now - last < SAME_LINE_EVERY_S) or not self._take(now):
            self._left_out[line] = self._left_out.get(line, 0) + 1
            return False
        if len(self._last) >= MAX_REMEMBERED:
            self._last.clear()
        self._last[line] = now
        left_out = self._left_out.pop(line, 0)
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out:,} more like this were left out)"
            record.args = None
        return True

    def _take(self, now: float) -> bool:
        self._allowance = min(BURST, self._allowance + (now - self._refilled) * LINES_A_SECOND)
        self._refilled = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def configure_logging(
    settings: LogSettings, *, stream: TextIO | None = None, on_event: Callable[[EventDict], None] | None = None
) -> None:
    """Send everything to `stream` (stderr) as the settings say. `on_event` sees each of our own lines first."""
    stream = stream or sys.stderr
    level = logging.getLevelNamesMapping()[settings.level]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if on_event is not None:
        shared.insert(0, _tap(on_event))
    as_json = settings.format == "json"
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback)
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.format_exc_info if as_json else _keep,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared[1:] if on_event is not None else shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    limit = RateLimit()
    for name in LIBRARIES:
        library = logging.getLogger(name)
        library.setLevel(max(level, LIBRARY_LEVEL) if level > logging.DEBUG else level)
    # Says that a commit took longer than its interval, which an outage makes every one.
    logging.getLogger("mode.timers").setLevel(logging.ERROR)
    # On the handler's side, because a filter of a logger does not see its children's records.
    handler.addFilter(_for_libraries(limit))


def _for_libraries(limit: RateLimit) -> Callable[[logging.LogRecord], bool]:
    def allow(record: logging.LogRecord) -> bool:
        return record.name.split(".", 1)[0] not in LIBRARIES or limit.filter(record)

    return allow


def _tap(on_event: Callable[[EventDict], None]) -> Callable[[WrappedLogger, str, EventDict], EventDict]:
    def tap(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        on_event(event)
        return event

    return tap


def _keep(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return event
