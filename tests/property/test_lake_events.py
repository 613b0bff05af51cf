"""Whatever order of deliveries, redeliveries, compactions and damage: each event once, and no number wrong."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire.lake import left_out, scan
from groundwire.lake.events.compaction import compact
from groundwire.lake.events.writer import EventWriter
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import LakeSettings
from tests.unit.lake_events import DAY_MS, MORNING_MS, attempt_event, land, parquet_files, record, request_event

# The time a test takes depends on what else the machine does, so no deadline.
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def empty_lake() -> Iterator[Path]:
    folder = tempfile.mkdtemp()
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder)


requests = st.builds(
    lambda name, day, cost, attempts: request_event(
        name, at_ms=MORNING_MS + day * DAY_MS, cost_micro_usd=cost, attempts=attempts
    ),
    name=st.integers(0, 6),
    day=st.integers(0, 2),
    cost=st.none() | st.sampled_from([0, 1000, 2500]),
    attempts=st.integers(0, 2),
)
attempts = st.builds(
    lambda name, outcome, cost: attempt_event(name, outcome=outcome, cost_micro_usd=cost),
    name=st.integers(0, 6),
    outcome=st.sampled_from(["ok", "lost", "timeout"]),
    cost=st.none() | st.sampled_from([0, 1000]),
)
logs = st.lists(requests | attempts, min_size=1, max_size=14)
# A step delivers a stretch of the log (as shares of its length), or compacts the lake.
steps = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)) | st.just("compact"), max_size=6)


def request_rank(event: RequestEvent, offset: int) -> tuple[object, ...]:
    cost = -1 if event.cost_micro_usd is None else event.cost_micro_usd
    paid = cost > 0 or (event.cost_micro_usd is None and event.attempts > 0)
    return (not paid, -cost, -event.attempts, event.completed_at_ms, offset)


def attempt_rank(event: AttemptEvent, offset: int) -> tuple[object, ...]:
    cost = -1 if event.cost_micro_usd is None else event.cost_micro_usd
    return (event.outcome == "lost", -cost, event.started_at_ms, offset)


def expected(log: list[InboundRecord], events: list[RequestEvent | AttemptEvent]) -> dict[str, int]:
    """The offset of the row to be kept of each event."""
    best: dict[str, tuple[tuple[object, ...], int]] = {}
    for entry, event in zip(log, events, strict=True):
        rank = (request_rank if isinstance(event, RequestEvent) else attempt_rank)(event, entry.offset)  # type: ignore[operator]
        if event.event_id not in best or rank < best[event.event_id][0]:
            best[event.event_id] = (rank, entry.offset)
    return {name: offset for name, (_, offset) in best.items()}


@QUICK
@given(events=logs, steps=steps)
def test_each_event_is_there_once_by_the_row_that_paid(
    events: list[RequestEvent | AttemptEvent], steps: list[tuple[float, float] | str]
) -> None:
    log = [record(event.encode(), offset=offset) for offset, event in enumerate(events)]
    with empty_lake() as lake:
        with EventWriter(lake, LakeSettings()) as writer:
            for step in [*steps, (0.0, 1.0), "compact"]:
                if isinstance(step, str):
                    compact(lake)
                else:
                    start, end = sorted(round(share * len(log)) for share in step)
                    assert writer.write(log[start:end]) == []
        found = [row for table in ("requests", "attempts") for row in _places(lake, table)]
        assert len(found) == len(dict(found))
        assert dict(found) == expected(log, events)
        assert left_out(lake) == []


def _places(lake: Path, table: str) -> list[tuple[str, int]]:
    return scan(table, path=lake).select("event_id", "offset").collect().rows()  # type: ignore[arg-type]


@QUICK
@given(
    moments=st.lists(st.integers(-DAY_MS, 3 * DAY_MS), min_size=1, max_size=10), cut=st.integers(-DAY_MS, 3 * DAY_MS)
)
def test_two_windows_side_by_side_hold_every_request_once(moments: list[int], cut: int) -> None:
    with empty_lake() as lake:
        events = [request_event(number, at_ms=MORNING_MS + moment) for number, moment in enumerate(moments)]
        land(lake, [record(event.encode(), offset=number) for number, event in enumerate(events)])
        boundary = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=MORNING_MS + cut)
        before = scan(path=lake, until=boundary).collect()["request_id"].to_list()
        after = scan(path=lake, since=boundary).collect()["request_id"].to_list()
        assert sorted(before + after) == sorted(event.request_id for event in events)


@contextmanager
def one_file() -> Iterator[tuple[Path, Path, pl.DataFrame]]:
    """A lake of one file, the file, and what it holds."""
    with empty_lake() as lake:
        land(lake, [record(request_event(number).encode(), offset=number) for number in range(60)])
        [file] = parquet_files(lake)
        yield lake, file, scan(path=lake).collect()


def test_wherever_a_byte_changes_before_the_footer_no_number_is_wrong() -> None:
    with one_file() as (lake, file, truth):
        content = file.read_bytes()
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")

        @settings(max_examples=120, deadline=None)
        @given(place=st.integers(0, footer - 1), change=st.integers(1, 255))
        def damaged(place: int, change: int) -> None:
            _replace(file, content[:place] + bytes([content[place] ^ change]) + content[place + 1 :])
            assert scan(path=lake).collect().equals(truth) or len(left_out(lake)) == 1

        damaged()


def test_wherever_a_file_ends_too_early_it_is_left_out() -> None:
    with one_file() as (lake, file, _):
        content = file.read_bytes()

        @settings(max_examples=60, deadline=None)
        @given(length=st.integers(0, len(content) - 1))
        def truncated(length: int) -> None:
            _replace(file, content[:length])
            assert scan(path=lake).collect().height == 0
            assert [name for name, _ in left_out(lake)] == [str(file.relative_to(lake))]

        truncated()


def _replace(file: Path, content: bytes) -> None:
    """A file of its own, so that its modification time says that it is another."""
    file.unlink()
    file.write_bytes(content)
