"""Reading the lake: each event once, damaged files left out and named, an empty lake read as an empty table."""

import json
import subprocess
import sys
import threading
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groundwire import lake as room
from groundwire.lake import left_out, scan
from groundwire.lake.events import files
from groundwire.lake.events import scan as scanning
from groundwire.lake.events.compaction import compact
from groundwire.lake.events.tables import ATTEMPTS, REQUESTS
from tests.unit.lake_events import (
    DAY_MS,
    MORNING_MS,
    attempt_event,
    hit_event,
    land,
    parquet_files,
    records,
    request_event,
)


def ids(path: Path, table: str = "requests", **window: object) -> list[str]:
    return sorted(scan(table, path=path, **window).collect()["request_id"])  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [False, True])
def test_an_empty_lake_is_an_empty_table_with_all_columns(tmp_path: Path, made: bool) -> None:
    lake = tmp_path / "lake"
    if made:
        (lake / "requests" / "date=2026-12-05").mkdir(parents=True)
    for name, table in (("requests", REQUESTS), ("attempts", ATTEMPTS)):
        found = scan(name, path=lake).collect()  # type: ignore[arg-type]
        assert found.height == 0
        assert found.columns == [*table.schema.names, "date"]
    assert left_out(lake) == []


def test_a_table_that_is_none_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`requests`, `attempts`"):
        scan("replies", path=tmp_path)  # type: ignore[arg-type]


def test_without_a_path_the_lake_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    land(tmp_path / "home" / "lake", records([request_event(1)]))
    land(tmp_path / "elsewhere", records([request_event(2)]))
    land(tmp_path / ".groundwire" / "lake", records([request_event(3)]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GROUNDWIRE_HOME", raising=False)
    monkeypatch.delenv("GROUNDWIRE_LAKE__PATH", raising=False)
    assert scan().collect()["request_id"].to_list() == ["id-3"]
    monkeypatch.setenv("GROUNDWIRE_HOME", str(tmp_path / "home"))
    assert scan().collect()["request_id"].to_list() == ["id-1"]
    monkeypatch.setenv("GROUNDWIRE_LAKE__PATH", str(tmp_path / "elsewhere"))
    assert scan().collect()["request_id"].to_list() == ["id-2"]
    assert left_out() == []


def test_of_a_request_answered_twice_the_row_that_paid_is_kept(tmp_path: Path) -> None:
    paid = request_event(1, cost_micro_usd=1500, attempts=1)
    again = hit_event(1, at_ms=MORNING_MS + 1000)
    for order in ([paid, again], [again, paid]):
        lake = tmp_path / order[0].event_id / str(order[0].attempts)
        land(lake, records(order[:1]))
        land(lake, records(order[1:], first=1))
        assert scan(path=lake).select("cost_micro_usd", "cache_outcome").rows() == [(1500, "miss")] if False else True
        assert scan(path=lake).collect().select("cost_micro_usd", "cache_outcome").rows() == [(1500, "miss")]


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ({"cost_micro_usd": None, "attempts": 1}, {"cost_micro_usd": 0, "attempts": 0}, (None, 1)),
        ({"cost_micro_usd": 1000, "attempts": 1}, {"cost_micro_usd": None, "attempts": 2}, (1000, 1)),
        ({"cost_micro_usd": 1000, "attempts": 1}, {"cost_micro_usd": 2500, "attempts": 2}, (2500, 2)),
        ({"cost_micro_usd": 0, "attempts": 2}, {"cost_micro_usd": 0, "attempts": 0}, (0, 2)),
        ({"cost_micro_usd": None, "attempts": 0}, {"cost_micro_usd": 0, "attempts": 0}, (0, 0)),
    ],
)
def test_which_row_paid(
    tmp_path: Path, one: dict[str, int], other: dict[str, int], kept: tuple[int | None, int]
) -> None:
    for first, second in ((one, other), (other, one)):
        lake = tmp_path / str(first is one)
        land(lake, records([request_event(1, **first), request_event(1, **second)]))
        assert scan(path=lake).collect().select("cost_micro_usd", "attempts").rows() == [kept]


def test_a_lost_attempt_gives_way_to_the_outcome_that_came_later(tmp_path: Path) -> None:
    lost = attempt_event(1, outcome="lost", cost_micro_usd=None, cost_source="unknown", at_ms=MORNING_MS)
    found = attempt_event(1, outcome="ok", cost_micro_usd=0, at_ms=MORNING_MS + 5)
    alone = attempt_event(2, outcome="lost", cost_micro_usd=None, cost_source="unknown")
    land(tmp_path, records([lost, alone]))
    land(tmp_path, records([found], first=2))
    rows = scan("attempts", path=tmp_path).collect().sort("attempt_id").select("attempt_id", "outcome").rows()
    assert rows == [("attempt-1", "ok"), ("attempt-2", "lost")]


def test_a_request_sent_again_on_another_day_is_one_row_the_one_that_paid(tmp_path: Path) -> None:
    paid = request_event(1)
    again = hit_event(1, at_ms=MORNING_MS + 3 * DAY_MS)
    land(tmp_path, records([paid, request_event(2)]))
    land(tmp_path, records([again, hit_event(3, at_ms=MORNING_MS + 3 * DAY_MS)], first=2))
    rows = scan(path=tmp_path).collect().sort("request_id").select("request_id", "cost_micro_usd", "date").rows()
    assert rows == [
        ("id-1", 1000, date(2026, 12, 5)),
        ("id-2", 1000, date(2026, 12, 5)),
        ("id-3", 0, date(2026, 12, 8)),
    ]


def test_the_same_row_is_kept_whatever_is_asked_of_the_table(tmp_path: Path) -> None:
    """A filter or a choice of columns must not decide between copies."""
    land(tmp_path, records([request_event(1), hit_event(1)]))
    assert scan(path=tmp_path).filter(pl.col("cache_outcome") == "exact").collect().height == 0
    assert scan(path=tmp_path).filter(pl.col("cost_micro_usd") == 1000).select("tenant").collect().height == 1
    assert scan(path=tmp_path).select(pl.len()).collect().item() == 1


def _damaged(content: bytes, how: str) -> bytes:
    middle = content.index(b"\x28\xb5\x2f\xfd") + 30  # inside the first page: behind zstd's magic number
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return {
        "empty": b"",
        "only magic": b"PAR1PAR1",
        "truncated": content[:-40],
        "cut in half": content[: len(content) // 2],
        "a flipped bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "zeros": content[:middle] + bytes(200) + content[middle + 200 :],
        "no parquet": b"date,cost\n2026-12-05,1\n",
        "a broken footer": content[:footer] + bytes(40) + content[footer + 40 :],
    }[how]


@pytest.mark.parametrize(
    "how",
    ["empty", "only magic", "truncated", "cut in half", "a flipped bit", "zeros", "no parquet", "a broken footer"],
)
def test_a_damaged_file_is_left_out_and_named_and_the_rest_counts(tmp_path: Path, how: str) -> None:
    land(tmp_path, records([request_event(number) for number in range(200)]))
    [bad] = parquet_files(tmp_path)
    bad.write_bytes(_damaged(bad.read_bytes(), how))
    land(tmp_path, records([request_event(900), request_event(901)], first=900))
    assert ids(tmp_path) == ["id-900", "id-901"]
    [(name, reason)] = left_out(tmp_path)
    assert name == str(bad.relative_to(tmp_path))
    assert reason


def test_a_file_that_was_mended_is_read_again(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    good = file.read_bytes()
    file.write_bytes(good[:100])
    assert ids(tmp_path) == []
    file.write_bytes(good)
    assert ids(tmp_path) == ["id-1"]
    assert left_out(tmp_path) == []


@pytest.mark.parametrize(
    "stray",
    [
        "requests/date=2026-12-05/_temporary.parquet",
        "requests/date=2026-12-05/.hidden.parquet",
        "requests/date=2026-12-05/part.parquet.tmp",
        "requests/date=2026-12-05/part.parquet.crc",
        "requests/date=nonsense/part.parquet",
        "requests/part.parquet",
        ".staging/1-2/part.parquet",
    ],
)
def test_stray_files_are_not_read(tmp_path: Path, stray: str) -> None:
    land(tmp_path, records([request_event(1)]))
    (tmp_path / stray).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / stray).write_bytes(b"not parquet at all")
    assert ids(tmp_path) == ["id-1"]
    assert left_out(tmp_path) == []


def test_a_folder_named_like_a_file_is_not_read(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    (tmp_path / "requests" / "date=2026-12-05" / "folder.parquet").mkdir()
    assert ids(tmp_path) == ["id-1"]


def test_files_in_folders_below_a_day_are_read(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    (file.parent / "hour=10").mkdir()
    file.rename(file.parent / "hour=10" / file.name)
    assert ids(tmp_path) == ["id-1"]


def _rewrite(file: Path, table: pa.Table) -> None:
    """As another tool would: under a name of its own."""
    file.unlink()
    pq.write_table(table, file.with_name("data_0.parquet"))


def _table(file: Path) -> pa.Table:
    return pq.ParquetFile(file).read()


def test_a_file_of_an_older_version_reads_as_null_where_it_lacks_a_column(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    _rewrite(file, _table(file).drop_columns(["error_kind", "unify_ms"]))
    land(tmp_path, records([request_event(2)], first=1))
    rows = scan(path=tmp_path).collect().sort("request_id").select("request_id", "unify_ms", "error_kind").rows()
    assert rows == [("id-1", None, None), ("id-2", 3.0, None)]


def test_a_file_of_a_newer_version_reads_without_the_columns_we_do_not_know(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    _rewrite(file, _table(file).append_column("mood", pa.array(["bright"])))
    land(tmp_path, records([request_event(2)], first=1))
    assert ids(tmp_path) == ["id-1", "id-2"]
    assert "mood" not in scan(path=tmp_path).collect_schema().names()


def test_a_file_rewritten_by_another_tool_with_kindred_types_is_read(tmp_path: Path) -> None:
    """Other tools know other integers and other strings."""
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    table = _table(file)
    changed = table.set_column(table.column_names.index("depth"), "depth", table["depth"].cast(pa.int64()))
    changed = changed.set_column(
        changed.column_names.index("tenant"), "tenant", changed["tenant"].cast(pa.large_string())
    )
    changed = changed.set_column(
        changed.column_names.index("requested_at"),
        "requested_at",
        changed["requested_at"].cast(pa.timestamp("ms", tz="UTC")),
    )
    _rewrite(file, changed)
    land(tmp_path, records([request_event(2)], first=1))
    rows = (
        scan(path=tmp_path).collect().sort("request_id").select("request_id", "depth", "tenant", "requested_at").rows()
    )
    assert rows == [
        ("id-1", 5, "default", datetime(2026, 12, 5, 10, 0, 1, tzinfo=UTC)),
        ("id-2", 5, "default", datetime(2026, 12, 5, 10, 0, 2, tzinfo=UTC)),
    ]


@pytest.mark.parametrize("kind", ["text for a number", "a number for text", "too large for its column"])
def test_a_file_whose_columns_are_of_another_kind_is_left_out_and_named(tmp_path: Path, kind: str) -> None:
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    table = _table(file)
    name, column = {
        "text for a number": ("cost_micro_usd", pa.array(["1000"])),
        "a number for text": ("tenant", pa.array([5])),
        "too large for its column": ("depth", pa.array([2**40])),
    }[kind]
    _rewrite(file, table.set_column(table.column_names.index(name), name, column))
    land(tmp_path, records([request_event(2)], first=1))
    assert ids(tmp_path) == ["id-2"]
    [(_, reason)] = left_out(tmp_path)
    assert f"`{name}`" in reason


def test_a_file_of_another_table_is_left_out_and_named(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), attempt_event(1)]))
    [attempts] = parquet_files(tmp_path, "attempts")
    attempts.rename(parquet_files(tmp_path)[0].parent / "strange.parquet")
    assert ids(tmp_path) == ["id-1"]
    [(name, reason)] = left_out(tmp_path)
    assert (name, "requested_at" in reason) == ("requests/date=2026-12-05/strange.parquet", True)


def test_a_file_edited_in_place_by_another_tool_is_read(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), request_event(2)]))
    [file] = parquet_files(tmp_path)
    pl.read_parquet(file, hive_partitioning=False).with_columns(pl.lit("bright").alias("mood")).write_parquet(file)
    assert ids(tmp_path) == ["id-1", "id-2"]
    assert left_out(tmp_path) == []


def test_a_file_that_lost_a_column_behind_its_digests_back_is_left_out_and_named(tmp_path: Path) -> None:
    """The footer has no checksum: a flipped bit in a column's name would turn known costs into unknown ones."""
    land(tmp_path, records([request_event(1)]))
    [file] = parquet_files(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"cost_micro_usd", b"cosu_micro_usd"))
    assert ids(tmp_path) == []
    [(_, reason)] = left_out(tmp_path)
    assert "`cost_micro_usd` is missing" in reason


def test_rows_without_an_event_id_are_all_kept(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), request_event(2), request_event(3), hit_event(3)]))
    [file] = parquet_files(tmp_path)
    table = _table(file)
    names = pa.array([None, None, "request-3", "request-3"], pa.string())
    _rewrite(file, table.set_column(table.column_names.index("event_id"), "event_id", names))
    assert ids(tmp_path) == ["id-1", "id-2", "id-3"]


def test_a_window_takes_its_beginning_and_leaves_its_end(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(number) for number in range(5)]))
    since, until = (datetime(2026, 12, 5, 10, 0, second, tzinfo=UTC) for second in (1, 3))
    assert ids(tmp_path, since=since, until=until) == ["id-1", "id-2"]
    assert ids(tmp_path, since=since) == ["id-1", "id-2", "id-3", "id-4"]
    assert ids(tmp_path, until=until) == ["id-0", "id-1", "id-2"]
    assert ids(tmp_path, since="2026-12-05", until="2026-12-05") == [f"id-{number}" for number in range(5)]
    assert ids(tmp_path, since=date(2026, 12, 6)) == []


def test_a_window_reads_only_the_days_it_touches_and_their_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(6):
        land(tmp_path, records([request_event(day, at_ms=MORNING_MS + day * DAY_MS)], first=day))
    read = []
    real = files.day_files

    def noting(lake: Path, table: object, day: date) -> list[Path]:
        read.append(day.day)
        return real(lake, table, day)  # type: ignore[arg-type]

    monkeypatch.setattr(scanning.files, "day_files", noting)
    assert ids(tmp_path, since="2026-12-07", until="2026-12-07") == ["id-2"]
    assert sorted(set(read)) == [6, 7, 8]


def test_copies_on_both_sides_of_midnight_count_once_in_the_windows_together(tmp_path: Path) -> None:
    midnight = MORNING_MS + 14 * 3_600_000
    land(tmp_path, records([request_event(1, at_ms=midnight - 1), hit_event(1, at_ms=midnight + 1)]))
    assert ids(tmp_path, until=date(2026, 12, 5)) == ["id-1"]
    assert ids(tmp_path, since=date(2026, 12, 6)) == []


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_the_frame_is_a_lazy_frame_like_any_other(tmp_path: Path, engine: str) -> None:
    for day in range(3):
        events = [request_event(100 * day + number, at_ms=MORNING_MS + day * DAY_MS) for number in range(10)]
        land(tmp_path, records(events, first=100 * day))
    frame = scan(path=tmp_path)
    collected = {"engine": engine}
    assert frame.head(12).collect(**collected).height == 12  # type: ignore[call-overload]
    assert frame.head(0).collect(**collected).height == 0  # type: ignore[call-overload]
    assert frame.select(pl.len()).collect(**collected).item() == 30  # type: ignore[call-overload]
    by_day = frame.group_by("date").agg(pl.col("cost_micro_usd").sum()).sort("date").collect(**collected)  # type: ignore[call-overload]
    assert by_day.rows() == [(date(2026, 12, day), 10_000) for day in (5, 6, 7)]
    late = frame.filter(pl.col("date") > date(2026, 12, 5), pl.col("offset") < 205).select("query").collect(**collected)  # type: ignore[call-overload]
    assert late.height == 15
    joined = frame.join(scan("attempts", path=tmp_path), on="request_id", how="left").collect(**collected)  # type: ignore[call-overload]
    assert joined.height == 30


def test_a_frame_sees_what_is_there_when_it_is_collected(tmp_path: Path) -> None:
    frame = scan(path=tmp_path)
    land(tmp_path, records([request_event(1)]))
    assert frame.collect().height == 1
    land(tmp_path, records([request_event(2)], first=1))
    assert frame.collect().height == 2


def test_a_reader_under_compaction_sees_every_event_once(tmp_path: Path) -> None:
    for number in range(40):
        land(tmp_path, records([request_event(number)], first=number))
    seen: list[int] = []
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            seen.append(scan(path=tmp_path).select("event_id").collect().height)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for round_ in range(3):
            compact(tmp_path)
            for number in range(40):
                if number % 10 == 0:
                    land(tmp_path, records([request_event(number)], first=number + 100 * round_))
    finally:
        ended.set()
        reader.join(timeout=30)
    assert seen
    assert set(seen) == {40}


def test_a_file_that_goes_away_between_the_look_and_the_read_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, records([request_event(1)]))
    land(tmp_path, records([request_event(2)], first=1))
    real = scanning.TableReader._read_at_once
    calls = 0

    def compacted_first(self: scanning.TableReader, exact: list[Path], names: list[str]) -> pl.DataFrame:
        nonlocal calls
        calls += 1
        if calls == 1:
            compact(tmp_path)
        return real(self, exact, names)

    monkeypatch.setattr(scanning.TableReader, "_read_at_once", compacted_first)
    assert ids(tmp_path) == ["id-1", "id-2"]
    assert calls == 2


def test_damage_that_only_reading_finds_leaves_that_file_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    land(tmp_path, records([request_event(1)]))
    land(tmp_path, records([request_event(2)], first=1))
    bad = parquet_files(tmp_path)[0]
    real = scanning.TableReader._read_at_once

    def stumbling(self: scanning.TableReader, exact: list[Path], names: list[str]) -> pl.DataFrame:
        if bad in exact:
            raise pl.exceptions.ComputeError("a page that decodes to nonsense\nwith a second line")
        return real(self, exact, names)

    monkeypatch.setattr(scanning.TableReader, "_read_at_once", stumbling)
    assert len(ids(tmp_path)) == 1
    assert left_out(tmp_path) == [(str(bad.relative_to(tmp_path)), "a page that decodes to nonsense")]


def test_damage_that_only_reading_finds_in_another_tools_file_leaves_that_file_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, records([request_event(1)]))
    land(tmp_path, records([request_event(2)], first=1))
    first = parquet_files(tmp_path)[0]
    _rewrite(first, _table(first))
    first = first.with_name("data_0.parquet")
    assert len(ids(tmp_path)) == 2

    def stumbling(file: Path, *_: object) -> pa.Table:
        raise scanning.UnreadableError("worn out")

    monkeypatch.setattr(scanning, "read_columns", stumbling)
    assert len(ids(tmp_path)) == 1
    assert left_out(tmp_path) == [(str(first.relative_to(tmp_path)), "worn out")]


def test_a_lake_that_changes_faster_than_it_can_be_read_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, records([request_event(1)]))

    def gone(*_: object) -> pl.DataFrame:
        raise FileNotFoundError

    monkeypatch.setattr(scanning.TableReader, "_read_at_once", gone)
    with pytest.raises(Exception, match="faster than they can be read"):
        scan(path=tmp_path).collect()


def test_the_room_is_entered_without_polars() -> None:
    """Workers that only use the cache do not carry it."""
    code = "import sys, groundwire.lake; print('polars' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_room_has_no_other_names() -> None:
    assert room.scan is scan
    with pytest.raises(AttributeError, match="nothing_such"):
        room.nothing_such  # noqa: B018


def test_the_columns_of_polars_are_those_of_the_files() -> None:
    shown = {name: str(kind) for name, kind in scanning.schema(REQUESTS).items()}
    assert shown["requested_at"] == "Datetime(time_unit='us', time_zone='UTC')"
    assert shown["cost_micro_usd"] == "Int64"
    assert shown["date"] == "Date"
    assert json.dumps(sorted(shown)) == json.dumps(sorted([*REQUESTS.schema.names, "date"]))
