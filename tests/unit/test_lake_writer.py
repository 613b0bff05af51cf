"""Events land as Parquet: the contract's columns, durable, nothing half, and a batch written again doubles nothing."""

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from groundwire.lake import scan
from groundwire.lake.events import staging
from groundwire.lake.events.rows import hashed
from groundwire.lake.events.staging import LakeUnwritableError, Staging
from groundwire.lake.events.writer import EventWriter
from groundwire.schemas.settings import LakeSettings
from tests.unit.lake_events import (
    DAY_MS,
    MORNING_MS,
    attempt_event,
    land,
    parquet_files,
    record,
    records,
    request_event,
)

REQUESTS_COLUMNS = (
    "request_id, reply_id, tenant, route, query, normalized_query, language, freshness, depth, status, provider, "
    "cache_outcome, cache_age_s, similarity, probability, matched_query, cost_micro_usd, saved_micro_usd, results, "
    "context_tokens, total_ms, queue_ms, normalize_ms, lookup_ms, fetch_ms, unify_ms, attempts, requested_at, "
    "completed_at, metadata, event_id, topic, partition, offset"
)
ATTEMPTS_COLUMNS = (
    "request_id, attempt_id, provider, attempt, outcome, reason, status_code, latency_ms, cost_micro_usd, cost_source, "
    "hedged, depth, results, bytes, started_at, tenant, event_id, topic, partition, offset"
)


def test_a_file_has_the_contracts_columns_in_their_order_and_additions_after_them(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1), attempt_event(1)]))
    assert pq.read_schema(parquet_files(tmp_path)[0]).names == [*REQUESTS_COLUMNS.split(", "), "error_kind"]
    assert pq.read_schema(parquet_files(tmp_path, "attempts")[0]).names == [
        *ATTEMPTS_COLUMNS.split(", "),
        "cost_detail",
    ]


def test_a_row_says_what_the_event_said(tmp_path: Path) -> None:
    asked = request_event(
        7,
        metadata={"문서": "가격", "a": "b"},
        cache_outcome="semantic",
        similarity=0.97,
        probability=0.99,
        matched_query="how tall is mountain 7",
        cost_micro_usd=2**40,
        language="ko",
    )
    land(tmp_path, records([asked], partition=3, first=41))
    row = scan(path=tmp_path).collect().row(0, named=True)
    stated = asked.model_dump(exclude={"version", "kind", "requested_at_ms", "completed_at_ms", "metadata"})
    assert {name: row[name] for name in stated} == stated
    assert row["requested_at"] == datetime(2026, 12, 5, 10, 0, 7, tzinfo=UTC)
    assert row["completed_at"] == datetime(2026, 12, 5, 10, 0, 7, 310_000, tzinfo=UTC)
    assert json.loads(row["metadata"]) == {"문서": "가격", "a": "b"}
    assert (row["topic"], row["partition"], row["offset"]) == ("search.events.v1", 3, 41)


def test_an_attempts_row_says_what_the_event_said(tmp_path: Path) -> None:
    called = attempt_event(
        3, outcome="timeout", reason="no answer in 3.0 s", status_code=None, cost_detail='{"fee": 1}'
    )
    land(tmp_path, records([called]))
    row = scan("attempts", path=tmp_path).collect().row(0, named=True)
    stated = called.model_dump(exclude={"version", "kind", "started_at_ms"})
    assert {name: row[name] for name in stated} == stated
    assert row["started_at"] == datetime(2026, 12, 5, 10, 0, 3, tzinfo=UTC)


def test_the_folder_is_the_utc_day_and_the_name_says_where_the_rows_come_from(tmp_path: Path) -> None:
    midnight = MORNING_MS + DAY_MS - 10 * 3_600_000
    batch = [
        *records([request_event(1, at_ms=midnight - 1), request_event(2, at_ms=midnight)], first=10),
        *records([request_event(3, at_ms=midnight - 2), attempt_event(3, at_ms=midnight)], partition=1, first=70),
    ]
    land(tmp_path, batch)
    names = [
        str(file.relative_to(tmp_path).parent / file.stem.rsplit(".", 1)[0]) for file in tmp_path.rglob("*.parquet")
    ]
    assert sorted(names) == [
        "attempts/date=2026-12-06/search.events.v1-1-71-71",
        "requests/date=2026-12-05/search.events.v1-0-10-10",
        "requests/date=2026-12-05/search.events.v1-1-70-70",
        "requests/date=2026-12-06/search.events.v1-0-11-11",
    ]


def test_files_are_compressed_with_zstd(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    column = pq.read_metadata(parquet_files(tmp_path)[0]).row_group(0).column(0)
    assert column.compression == "ZSTD"


def test_the_same_records_written_again_replace_their_file(tmp_path: Path) -> None:
    batch = records([request_event(number) for number in range(20)])
    land(tmp_path, batch)
    before = parquet_files(tmp_path)
    land(tmp_path, batch)
    assert parquet_files(tmp_path) == before
    assert scan(path=tmp_path).select(pl.len()).collect().item() == 20


def test_records_delivered_again_in_other_batches_count_once(tmp_path: Path) -> None:
    batch = records([request_event(number) for number in range(20)])
    land(tmp_path, batch[:12])
    land(tmp_path, batch[5:])
    assert len(parquet_files(tmp_path)) == 2
    assert sorted(scan(path=tmp_path).collect()["offset"]) == list(range(20))


def test_other_records_at_the_same_offsets_do_not_replace_a_file(tmp_path: Path) -> None:
    """The embedded broker begins at offset 0 at every start."""
    land(tmp_path, records([request_event(1), request_event(2)]))
    land(tmp_path, records([request_event(3), request_event(4)]))
    assert len(parquet_files(tmp_path)) == 2
    assert sorted(scan(path=tmp_path).collect()["request_id"]) == ["id-1", "id-2", "id-3", "id-4"]


@pytest.mark.parametrize(
    ("value", "kind", "field"),
    [
        (None, "poison", None),
        (b"", "poison", None),
        (b"{", "poison", None),
        (b"\xff\xfe", "poison", None),
        (b"[]", "poison", "kind"),
        (b'{"kind": "other"}', "poison", "kind"),
        (b'{"kind": "request"}', "poison", "event_id"),
        (b'{"kind": "attempt", "surprise": 1}', "poison", "event_id"),
        (b"[" * 100_000, "poison", None),
        (request_event(1).model_copy(update={"version": 2}).encode(), "future_version", "version"),
        (attempt_event(1).model_copy(update={"version": 99}).encode(), "future_version", "version"),
        (request_event(1).model_copy(update={"requested_at_ms": 10**17}).encode(), "poison", "requested_at_ms"),
        (request_event(1).model_copy(update={"completed_at_ms": -1}).encode(), "poison", "completed_at_ms"),
        (attempt_event(1).model_copy(update={"started_at_ms": -1}).encode(), "poison", "started_at_ms"),
        (request_event(1).model_copy(update={"cost_micro_usd": 2**70}).encode(), "poison", None),
        (request_event(1).model_copy(update={"results": 2**40}).encode(), "poison", None),
    ],
)
def test_a_record_that_is_no_row_is_refused_with_its_reason_and_the_others_are_written(
    tmp_path: Path, value: bytes | None, kind: str, field: str | None
) -> None:
    good = [request_event(number) for number in (100, 101)]
    batch = [record(good[0].encode(), offset=4), record(value, offset=5), record(good[1].encode(), offset=6)]
    with EventWriter(tmp_path, LakeSettings()) as writer:
        refused = writer.write(batch)
    assert [(found.offset, error.kind, error.field) for found, error in refused] == [(5, kind, field)]
    assert sorted(scan(path=tmp_path).collect()["offset"]) == [4, 6]


def test_a_refusal_never_repeats_what_the_record_held(tmp_path: Path) -> None:
    secret = b'{"kind": "request", "query": "my secret illness", "tenant": 5}'
    with EventWriter(tmp_path, LakeSettings()) as writer:
        [(_, error)] = writer.write([record(secret)])
    assert "secret" not in error.message


def test_a_batch_of_nothing_but_refused_records_writes_no_file(tmp_path: Path) -> None:
    with EventWriter(tmp_path, LakeSettings()) as writer:
        assert len(writer.write([record(None), record(b"x")])) == 2
    assert parquet_files(tmp_path) == []


def test_query_texts_can_be_hashed_so_that_equal_ones_stay_countable(tmp_path: Path) -> None:
    batch = records([request_event(1, query="Seoul?", normalized_query="seoul", matched_query=None) for _ in range(1)])
    land(tmp_path, batch, query_text="hash")
    row = scan(path=tmp_path).collect().row(0, named=True)
    assert row["query"] == hashed("Seoul?") != hashed("seoul") == row["normalized_query"]
    assert row["matched_query"] is None
    assert b"Seoul" not in parquet_files(tmp_path)[0].read_bytes()


def test_query_texts_can_be_left_out(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1, matched_query="what is it")]), query_text="none")
    row = scan(path=tmp_path).collect().row(0, named=True)
    assert (row["query"], row["normalized_query"], row["matched_query"]) == (None, None, None)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_refuses_is_said_clearly_and_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    batch = records([request_event(1), attempt_event(1)])
    with EventWriter(tmp_path, LakeSettings()) as writer:
        with monkeypatch.context() as patched:
            patched.setattr(staging.os, "fsync", refuse)
            with pytest.raises(LakeUnwritableError) as failure:
                writer.write(batch)
        assert failure.value.errno == code
        assert os.strerror(code) in str(failure.value)
        assert str(tmp_path) in str(failure.value)
        assert [file for file in tmp_path.rglob("*.parquet*") if file.is_file()] == []
        assert writer.write(batch) == []
    assert scan(path=tmp_path).collect().height == 1


def test_a_disk_that_fails_in_the_middle_of_a_batch_doubles_nothing_when_the_batch_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync
    calls = 0

    def fill_up(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    batch = [row for partition in range(6) for row in records([request_event(partition)], partition=partition)]
    with EventWriter(tmp_path, LakeSettings()) as writer:
        with monkeypatch.context() as patched:
            patched.setattr(staging.os, "fsync", fill_up)
            with pytest.raises(LakeUnwritableError):
                writer.write(batch)
        placed = len(parquet_files(tmp_path))
        assert 0 < placed < 6
        assert scan(path=tmp_path).collect().height == placed
        writer.write(batch)
    assert sorted(scan(path=tmp_path).collect()["partition"]) == [0, 1, 2, 3, 4, 5]


def test_a_file_where_the_lakes_folder_should_be_is_one_clear_message(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file")
    with pytest.raises(LakeUnwritableError, match="a file stands where a folder is needed"):
        EventWriter(tmp_path / "lake", LakeSettings()).write(records([request_event(1)]))


def test_a_lake_that_cannot_be_written_is_no_obstacle_to_starting(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file")
    writer = EventWriter(tmp_path / "lake", LakeSettings())
    (tmp_path / "lake").unlink()
    assert writer.write(records([request_event(1)])) == []
    writer.close()


def test_what_a_crashed_writer_left_in_staging_is_removed_by_the_next(tmp_path: Path) -> None:
    with EventWriter(tmp_path, LakeSettings()) as writer:
        writer.write(records([request_event(1)]))
        left = tmp_path / ".staging" / "999999-dead"
        left.mkdir()
        (left / "half.parquet").write_bytes(b"PAR1 half")
        left.with_name("999999-dead.lock").touch()
    with EventWriter(tmp_path, LakeSettings()) as writer:
        writer.write(records([request_event(2)], first=1))
        assert not left.exists()
        assert not left.with_name("999999-dead.lock").exists()


def test_the_staging_of_a_living_writer_is_not_touched(tmp_path: Path) -> None:
    first = Staging(tmp_path)
    with first.file(tmp_path / "requests" / "date=2026-12-05", "a") as file:
        file.content.write(b"begun")
        with EventWriter(tmp_path, LakeSettings()) as other:
            other.write(records([request_event(1)]))
        file.content.write(b" and ended")
    first.close()
    [placed] = (tmp_path / "requests" / "date=2026-12-05").glob("a.*")
    assert placed.read_bytes() == b"begun and ended"


def test_a_writer_goes_on_when_its_staging_folder_was_removed(tmp_path: Path) -> None:
    with EventWriter(tmp_path, LakeSettings()) as writer:
        writer.write(records([request_event(1)]))
        for folder in (tmp_path / ".staging").iterdir():
            if folder.is_dir():
                folder.rmdir()
        writer.write(records([request_event(2)], first=1))
    assert scan(path=tmp_path).collect().height == 2


def test_a_closed_writer_leaves_nothing_in_staging(tmp_path: Path) -> None:
    land(tmp_path, records([request_event(1)]))
    assert [entry.name for entry in (tmp_path / ".staging").iterdir() if entry.name != "door"] == []


def test_a_failure_that_is_not_the_disks_leaves_nothing_either(tmp_path: Path) -> None:
    places = Staging(tmp_path)

    def fail() -> None:
        with places.file(tmp_path / "requests", "a") as file:
            file.content.write(b"half")
            raise RuntimeError("out of luck")

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.rglob("*.parquet")) == []
    places.close()
