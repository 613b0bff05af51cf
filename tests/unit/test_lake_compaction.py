"""Compaction makes few files of many and loses nothing, whoever reads, writes or crashes meanwhile; verify looks at all."""

import errno
import os
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from groundwire.lake import scan
from groundwire.lake.events import compaction as compacting
from groundwire.lake.events import soundness
from groundwire.lake.events.compaction import CompactionBusyError, compact
from groundwire.lake.events.staging import LakeUnwritableError
from groundwire.lake.events.tables import REQUESTS
from groundwire.lake.events.verification import verify
from groundwire.lake.events.writer import EventWriter
from groundwire.schemas.settings import LakeSettings
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


@pytest.fixture
def two_days(tmp_path: Path) -> Path:
    """Ten files of requests and ten of attempts on each of two days."""
    with EventWriter(tmp_path, LakeSettings()) as writer:
        for day in range(2):
            for number in range(10):
                at_ms = MORNING_MS + day * DAY_MS + 1000 * number
                name = 100 * day + number
                batch = [request_event(name, at_ms=at_ms), attempt_event(name, at_ms=at_ms)]
                assert writer.write(records(batch, first=2 * name)) == []
    return tmp_path


def everything(lake: Path, table: str = "requests") -> pl.DataFrame:
    return scan(table, path=lake).collect().sort("event_id")  # type: ignore[arg-type]


def test_a_day_becomes_one_file_and_no_row_changes(two_days: Path) -> None:
    before = [everything(two_days), everything(two_days, "attempts")]
    done = compact(two_days)
    assert (done.days, done.files_before, done.files_after, done.rows, done.doubled_rows) == (4, 40, 4, 40, 0)
    assert done.by_table == {"requests": 2, "attempts": 2}
    assert done.bytes_before > done.bytes_after > 0
    assert [len(parquet_files(two_days, table)) for table in ("requests", "attempts")] == [2, 2]
    assert everything(two_days).equals(before[0])
    assert everything(two_days, "attempts").equals(before[1])


def test_compacting_again_does_nothing(two_days: Path) -> None:
    compact(two_days)
    before = parquet_files(two_days)
    assert compact(two_days).files_before == 0
    assert parquet_files(two_days) == before


def test_copies_become_one_row_by_the_same_rule_as_in_a_scan(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), request_event(2)]))
    land(tmp_path, records([hit_event(1), request_event(3)], first=2))
    lost = attempt_event(1, outcome="lost", cost_micro_usd=None, cost_source="unknown")
    land(tmp_path, records([lost], first=4))
    land(tmp_path, records([attempt_event(1, cost_micro_usd=0)], first=5))
    done = compact(tmp_path)
    assert done.doubled_rows == 2
    [file] = parquet_files(tmp_path)
    rows = pq.ParquetFile(file).read(columns=["request_id", "cost_micro_usd"]).to_pylist()
    assert sorted((row["request_id"], row["cost_micro_usd"]) for row in rows) == [
        ("id-1", 1000),
        ("id-2", 1000),
        ("id-3", 1000),
    ]
    [attempts] = parquet_files(tmp_path, "attempts")
    assert pq.ParquetFile(attempts).read(columns=["outcome"]).to_pylist() == [{"outcome": "ok"}]


def test_copies_of_what_a_merged_file_holds_already_do_not_take_it_along(tmp_path: Path) -> None:
    """The new merge has the old one's very content and name: it must not be removed as one of its own sources."""
    for number in range(3):
        land(tmp_path, records([request_event(number)], first=number))
    compact(tmp_path)
    [merged] = parquet_files(tmp_path)
    land(tmp_path, records([request_event(1)], first=1))
    compact(tmp_path)
    assert parquet_files(tmp_path) == [merged]
    assert everything(tmp_path).height == 3


def test_large_files_are_left_alone(two_days: Path) -> None:
    before = parquet_files(two_days)
    assert compact(two_days, target_bytes=1).files_before == 0
    assert parquet_files(two_days) == before


def test_days_with_few_files_can_be_left_alone(two_days: Path) -> None:
    assert compact(two_days, min_files=11).files_before == 0


def test_many_rows_become_several_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compacting, "_ROW_GROUP_ROWS", 4)
    for number in range(5):
        land(tmp_path, records([request_event(10 * number + row) for row in range(2)], first=2 * number))
    compact(tmp_path)
    [file] = parquet_files(tmp_path)
    assert [pq.read_metadata(file).row_group(group).num_rows for group in range(3)] == [4, 4, 2]
    assert everything(tmp_path).height == 10


def test_damaged_files_are_named_and_not_touched(two_days: Path) -> None:
    bad = parquet_files(two_days)[3]
    bad.write_bytes(bad.read_bytes()[:-9])
    content = bad.read_bytes()
    done = compact(two_days)
    assert list(done.left_out) == [str(bad.relative_to(two_days))]
    assert bad.read_bytes() == content
    assert everything(two_days).height == 19


def test_damage_found_in_the_middle_of_a_merge_begins_it_again_without_that_file(
    two_days: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = parquet_files(two_days)[3]
    real = compacting.read_columns

    def stumbling(file: Path, table: object, names: list[str]) -> object:
        if file == bad and "query" in names:
            raise soundness.UnreadableError("worn out")
        return real(file, table, names)  # type: ignore[arg-type]

    monkeypatch.setattr(compacting, "read_columns", stumbling)
    done = compact(two_days)
    assert done.left_out == {str(bad.relative_to(two_days)): "worn out"}
    assert bad.exists()
    assert len(parquet_files(two_days)) == 3


def _crash_at_unlink(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    real = Path.unlink
    calls = 0

    def unlink(self: Path, missing_ok: bool = False) -> None:
        nonlocal calls
        if self.suffix == ".parquet" and not missing_ok:
            calls += 1
            if calls > after:
                raise KeyboardInterrupt
        real(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)


@pytest.mark.parametrize("after", [0, 3])
def test_a_crash_before_all_sources_are_gone_doubles_nothing_and_the_next_run_ends_it(
    two_days: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    before = everything(two_days)
    with monkeypatch.context() as patched:
        _crash_at_unlink(patched, after)
        with pytest.raises(KeyboardInterrupt):
            compact(two_days)
    assert len(parquet_files(two_days)) == 21 - after
    assert everything(two_days).equals(before)
    compact(two_days)
    assert len(parquet_files(two_days)) == 2
    assert everything(two_days).equals(before)


def test_a_full_disk_changes_nothing_and_is_said(two_days: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = parquet_files(two_days)

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(LakeUnwritableError, match="No space left"):
        compact(two_days)
    assert parquet_files(two_days) == before


def test_sources_that_cannot_be_removed_are_said(two_days: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.suffix == ".parquet" and not missing_ok:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        real(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(LakeUnwritableError, match="Read-only"):
        compact(two_days)


def test_two_compactions_at_once_are_refused(two_days: Path) -> None:
    lock = FileLock(two_days / ".staging" / "compaction")
    with lock, pytest.raises(CompactionBusyError, match="another process"):
        compact(two_days)
    assert compact(two_days).files_before == 40


def test_a_lake_that_cannot_be_locked_is_said(tmp_path: Path) -> None:
    (tmp_path / ".staging").write_text("a file")
    with pytest.raises(LakeUnwritableError):
        compact(tmp_path)


def test_a_lake_that_is_not_there_is_compacted_already(tmp_path: Path) -> None:
    assert compact(tmp_path / "nowhere").files_before == 0
    assert not (tmp_path / "nowhere").exists()


def test_verify_counts_and_finds_nothing_wrong_with_a_sound_lake(two_days: Path) -> None:
    land(two_days, records([request_event(0)], first=500))
    found = verify(two_days)
    assert found.problems == []
    assert (found.files, found.rows, found.events) == (
        41,
        {"requests": 21, "attempts": 20},
        {"requests": 20, "attempts": 20},
    )
    assert found.doubled_rows == 1
    assert found.bytes == sum(file.stat().st_size for file in two_days.rglob("*.parquet"))


def test_verify_of_an_empty_lake_finds_nothing(tmp_path: Path) -> None:
    found = verify(tmp_path / "nowhere")
    assert (found.files, found.problems, found.rows) == (0, [], {"requests": 0, "attempts": 0})


def test_verify_names_damaged_misplaced_nameless_and_stray(two_days: Path) -> None:
    first_day = parquet_files(two_days)[0].parent
    damaged, misplaced, nameless = parquet_files(two_days)[:3]
    damaged.write_bytes(damaged.read_bytes()[:-9])
    (first_day.parent / "date=2026-12-24").mkdir()
    misplaced.rename(first_day.parent / "date=2026-12-24" / misplaced.name)
    table = pq.ParquetFile(nameless).read()
    nameless.unlink()
    pq.write_table(
        table.set_column(table.column_names.index("event_id"), "event_id", [[None]]).cast(table.schema),
        first_day / "nameless.parquet",
    )
    (first_day / "part.tmp").write_bytes(b"half")
    (two_days / "requests" / "stray.parquet").write_bytes(b"")
    assert sorted(map(str, verify(two_days).problems)) == [
        "requests/date=2026-12-05/nameless.parquet: 1 rows have no event_id, so copies of them can't be told",
        "requests/date=2026-12-05/part.tmp: does not belong to the table; it is not read",
        f"requests/date=2026-12-05/{damaged.name}: can't be read: {soundness.look_at(damaged, REQUESTS).reason}",
        f"requests/date=2026-12-24/{misplaced.name}: 1 rows are not of this folder's day by their requested_at",
        "requests/stray.parquet: does not belong to the table; it is not read",
    ]


def test_verify_does_not_stumble_over_a_file_that_compaction_takes_away(
    two_days: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundwire.lake.events import verification

    real = verification.files.day_files

    def with_a_ghost(*arguments: object) -> list[Path]:
        found = real(*arguments)  # type: ignore[arg-type]
        return [*found, found[0].with_name("gone.parquet")]

    monkeypatch.setattr(verification.files, "day_files", with_a_ghost)
    assert verify(two_days).files == 40
