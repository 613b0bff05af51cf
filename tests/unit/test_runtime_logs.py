"""Logs are quiet in an outage, and say what they left out."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from groundwire.schemas.settings import LogSettings
from groundwire.streams.runtime.logs import BURST, LINES_A_SECOND, SAME_LINE_EVERY_S, RateLimit, configure_logging


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def line(message: str, *arguments: object, name: str = "aiokafka.conn") -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, "", 0, message, arguments, None)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_the_same_line_comes_through_once_and_then_with_the_count_of_those_left_out() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    assert limit.filter(line("Unable to connect to %s", "a:1"))
    for port in range(1, 8):
        assert not limit.filter(line("Unable to connect to %s", f"a:{port}"))
    clock.now += SAME_LINE_EVERY_S
    again = line("Unable to connect to %s", "b:2")
    assert limit.filter(again)
    assert again.getMessage() == "Unable to connect to b:2 (7 more like this were left out)"


def test_different_lines_share_a_few_a_second() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    through = sum(limit.filter(line(f"trouble {number}")) for number in range(1_000))
    assert through == BURST
    clock.now += 1
    assert sum(limit.filter(line(f"more trouble {number}")) for number in range(1_000)) == LINES_A_SECOND


def test_a_thousand_different_lines_over_minutes_are_not_remembered_for_ever() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    for number in range(1_200):
        clock.now += 1
        limit.filter(line(f"trouble {number}"))
    assert len(limit._last) <= 500


def written(settings: LogSettings, **options: Any) -> io.StringIO:
    stream = io.StringIO()
    configure_logging(settings, stream=stream, **options)
    return stream


def test_json_lines_are_one_document_each_with_level_and_time() -> None:
    stream = written(LogSettings(format="json"))
    structlog.get_logger("groundwire.test").info("ready", role="fetch", partitions=8)
    document = json.loads(stream.getvalue())
    assert document["event"] == "ready"
    assert document["role"] == "fetch"
    assert document["level"] == "info"
    assert document["timestamp"].endswith("Z")


def test_a_traceback_stays_inside_its_json_line() -> None:
    stream = written(LogSettings(format="json"))
    try:
        raise ValueError("broken")
    except ValueError:
        structlog.get_logger("groundwire.test").exception("a handler failed")
    document = json.loads(stream.getvalue())
    assert "ValueError: broken" in document["exception"]


def test_libraries_speak_through_the_same_renderer_from_warnings_on() -> None:
    stream = written(LogSettings(format="json"))
    logging.getLogger("aiokafka.conn").info("connected")
    logging.getLogger("faust.app").warning("trouble")
    lines = [json.loads(text) for text in stream.getvalue().splitlines()]
    assert [document["event"] for document in lines] == ["trouble"]


def test_libraries_are_limited_and_our_own_lines_are_not() -> None:
    stream = written(LogSettings(format="json"))
    for number in range(50):
        logging.getLogger("aiokafka.client").error("broker is gone")
        structlog.get_logger("groundwire.test").warning("own line", number=number)
    events = [json.loads(text)["event"] for text in stream.getvalue().splitlines()]
    assert events.count("broker is gone") == 1
    assert events.count("own line") == 50


def test_the_level_holds_for_our_own_lines() -> None:
    stream = written(LogSettings(level="ERROR"))
    structlog.get_logger("groundwire.test").warning("not this")
    assert stream.getvalue() == ""


def test_debug_lets_the_libraries_talk() -> None:
    stream = written(LogSettings(level="DEBUG"))
    logging.getLogger("aiokafka.conn").debug("request sent")
    assert "request sent" in stream.getvalue()
    configure_logging(LogSettings())


def test_console_lines_have_no_colours_when_nobody_looks() -> None:
    stream = written(LogSettings())
    structlog.get_logger("groundwire.test").info("ready", role="unify")
    assert "\x1b[" not in stream.getvalue()
    assert "role=unify" in stream.getvalue()


def test_whoever_asks_sees_our_events_and_not_the_libraries() -> None:
    seen: list[str] = []
    written(LogSettings(), on_event=lambda event: seen.append(str(event["event"])))
    structlog.get_logger("groundwire.test").info("ready")
    logging.getLogger("aiokafka.conn").warning("trouble")
    assert seen == ["ready"]
