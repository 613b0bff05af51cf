"""The reader: sees what the writer commits, from memory as far as possible, and never fails a request."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from groundwire.lake.cache import bodies, segments, view
from groundwire.lake.cache.errors import ViewDamaged
from groundwire.lake.cache.keys import hash64
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.view import CacheReader
from groundwire.schemas.settings import Settings
from tests.unit.cache_views import (
    DAY_MS,
    DIMENSIONS,
    MODEL,
    NOW_MS,
    batch,
    entry,
    eventually,
    opened,
    purge,
    put,
    settings_in,
    vector,
)


async def reading(settings: Settings) -> CacheReader:
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.start()
    return reader


async def reading_cold(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> CacheReader:
    """One that has nothing in memory yet, as after the start over a view larger than the memory."""
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    with monkeypatch.context() as patch:
        patch.setattr(reader._bodies, "warm", lambda _: None)
        await reader.start()
    return reader


async def test_a_committed_write_is_seen_by_a_reader_that_was_there_before(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    reader = await reading(settings)
    assert await reader.exact("a", NOW_MS) is None
    assert reader.failure is None
    writer = opened(settings)
    for offset, key in enumerate("abc"):
        writer.apply(batch(put(key), begin=offset))
        found = await eventually(lambda key=key: reader.exact(key, NOW_MS))
        assert found == entry(key).model_copy(update={"embedding": None})
    await reader.stop()
    writer.close()


async def test_a_purge_and_a_new_answer_are_seen_too(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b")))
    reader = await reading(settings)
    writer.apply(batch(purge(query="a"), put("b", provider="exa"), begin=2))

    async def both_changed() -> bool:
        found = await reader.exact("b", NOW_MS)
        return await reader.exact("a", NOW_MS) is None and found is not None and found.provider == "exa"

    await eventually(both_changed)
    assert [neighbour.entry.provider for neighbour in await reader.nearest("facet", vector("b"), 3, NOW_MS)] == ["exa"]
    await reader.stop()
    writer.close()


async def test_an_entry_ends_on_the_millisecond_and_lives_on_as_stale_where_asked(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = await reading(settings)
    end = NOW_MS + DAY_MS
    assert await reader.exact("a", end - 1) is not None
    assert await reader.exact("a", end) is None
    assert await reader.exact("a", end + 4999, stale_s=5) is not None
    assert await reader.exact("a", end + 5000, stale_s=5) is None
    assert await reader.nearest("facet", vector("a"), 1, end - 1) != []
    assert await reader.nearest("facet", vector("a"), 1, end) == []
    await reader.stop()
    writer.close()


async def test_lookups_are_answered_from_memory_without_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    reader = await reading(settings)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    await eventually(lambda: reader.exact("a", NOW_MS))

    async def store_asked(*_: Any) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(reader._bodies, "_read", store_asked)
    for _ in range(3):
        assert await reader.exact("a", NOW_MS) is not None
        assert await reader.exact("missing", NOW_MS) is None
    await reader.stop()
    writer.close()


async def test_an_answer_not_in_memory_is_read_once_for_equal_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = await reading_cold(settings, monkeypatch)
    reads = []
    read = reader._bodies._read

    async def counted(name: str, seqs: list[int]) -> dict[int, str]:
        reads.extend(seqs)
        return await read(name, seqs)

    monkeypatch.setattr(reader._bodies, "_read", counted)
    found = await asyncio.gather(*(reader.exact("a", NOW_MS) for _ in range(20)))
    assert all(one is not None for one in found)
    assert len(reads) == 1
    await reader.stop()
    writer.close()


async def test_memory_for_answers_is_bounded_by_bytes(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, memory_mib=1)
    long = {"results": [entry("x").results[0].model_copy(update={"body": "x" * 100_000})]}
    reader = await reading(settings)
    writer = opened(settings)
    for at in range(30):
        writer.apply(batch(put(f"k{at}", **long), begin=at))
    await eventually(lambda: reader.exact("k29", NOW_MS))
    assert 0 < reader._answers.bytes <= 1024 * 1024
    assert len(reader._answers) < 12
    for at in range(30):
        assert await reader.exact(f"k{at}", NOW_MS) is not None
    await reader.stop()
    writer.close()


async def test_two_keys_of_one_hash_never_serve_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = await reading(settings)
    monkeypatch.setattr(view, "hash64", lambda text: hash64("a") if text == "b" else hash64(text))
    assert await reader.exact("a", NOW_MS) is not None
    assert await reader.exact("b", NOW_MS) is None
    await reader.stop()
    writer.close()


async def test_nearest_is_sorted_and_never_leaves_its_facet(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    keys = [f"k{at}" for at in range(20)]
    writer.apply(batch(*(put(key) for key in keys), *(put(f"other-{key}", query=key, facet="other") for key in keys)))
    reader = await reading(settings)
    found = await reader.nearest("facet", vector("k3"), 5, NOW_MS)
    assert found[0].entry.cache_key == "k3"
    assert found[0].similarity == pytest.approx(1, abs=1e-5)
    assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)
    assert {one.entry.facet for one in found} == {"facet"}
    assert len(found) == 5
    assert await reader.nearest("unknown", vector("k3"), 5, NOW_MS) == []
    assert await reader.nearest("facet", vector("k3"), 0, NOW_MS) == []
    await reader.stop()
    writer.close()


async def test_dead_rows_near_the_question_do_not_hide_live_ones(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    reader = await reading(settings)
    writer = opened(settings)
    writer.apply(batch(put("far", query="quite another question")))
    for at in range(30):
        writer.apply(batch(put("near", query="the question"), begin=1 + at))
    writer.apply(batch(purge(query="the question"), begin=31))
    await reader.refresh()
    found = await reader.nearest("facet", vector("the question"), 1, NOW_MS)
    assert [one.entry.cache_key for one in found] == ["far"]
    await reader.stop()
    writer.close()


async def test_entries_outside_the_semantic_tier_are_never_near(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a", semantic=False), put("b", embedding=None, with_vector=False, semantic=False)))
    reader = await reading(settings)
    assert await reader.nearest("facet", vector("a"), 5, NOW_MS) == []
    assert await reader.exact("a", NOW_MS) is not None
    await reader.stop()
    writer.close()


async def test_without_a_model_there_are_exact_hits_only(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = CacheReader(settings)
    await reader.start()
    assert await reader.exact("a", NOW_MS) is not None
    assert await reader.nearest("facet", vector("a"), 5, NOW_MS) == []
    await reader.stop()
    writer.close()


async def test_vectors_of_another_model_are_left_alone(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = CacheReader(settings, "another-model", DIMENSIONS)
    await reader.start()
    assert await reader.exact("a", NOW_MS) is not None
    assert await reader.nearest("facet", vector("a"), 5, NOW_MS) == []
    await reader.stop()
    writer.close()


async def test_a_view_that_is_thrown_away_and_made_again_is_followed(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = await reading(settings)
    assert await reader.exact("a", NOW_MS) is not None
    writer.close()
    shutil.rmtree(settings.cache_path)

    async def gone() -> bool:
        return await reader.exact("a", NOW_MS) is None

    await eventually(gone)
    assert await reader.nearest("facet", vector("a"), 5, NOW_MS) == []
    writer = opened(settings)
    writer.apply(batch(put("b")))
    assert (await eventually(lambda: reader.exact("b", NOW_MS))).cache_key == "b"
    await reader.stop()
    writer.close()


async def test_a_view_that_cannot_be_read_is_misses_said_once_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b")))
    reader = await reading(settings)

    def broken(*_: Any) -> None:
        raise OSError(5, "the disk is gone")

    with capture_logs() as logs, monkeypatch.context() as patch:
        for method in ("read", "tail", "latest", "asynchronous"):
            patch.setattr(Store, method, broken)
        for _ in range(3):
            assert await reader.exact("a", NOW_MS) is None
            await reader.refresh()
        assert len([line for line in logs if line["log_level"] == "warning"]) == 1
        assert "the disk is gone" in (reader.failure or "")
    await eventually(lambda: reader.failure is None)
    assert (await eventually(lambda: reader.exact("a", NOW_MS))).cache_key == "a"
    await reader.stop()
    writer.close()


async def test_an_answer_whose_file_is_gone_is_a_miss(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    writer.close()
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.refresh()
    for file in settings.cache_path.rglob("data/*.lance"):
        file.unlink()
    reader._store.close()
    assert await reader.exact("a", NOW_MS) is None
    assert reader.failure is not None
    await reader.stop()


async def test_a_disk_that_hangs_holds_no_request_up_and_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b")))
    reader = await reading_cold(settings, monkeypatch)
    hangs, asked = asyncio.Event(), []
    read = reader._bodies._read_version

    async def hanging(name: str, seqs: list[int]) -> dict[int, str]:
        asked.append(seqs)
        await hangs.wait()
        return await read(name, seqs)

    monkeypatch.setattr(reader._bodies, "_read_version", hanging)
    with capture_logs() as logs:
        assert await reader.exact("a", NOW_MS, patience_s=0.01) is None
        # It is known by now: nobody else waits, and nothing more is asked of that disk.
        assert await reader.exact("b", NOW_MS, patience_s=0.01) is None
    assert len(asked) == 1
    [line] = [line for line in logs if line["log_level"] == "warning"]
    assert "not read within 0.01 s" in line["error"] and "one read of entries_" in line["error"]
    hangs.set()
    assert await reader.exact("a", NOW_MS) is not None
    assert await reader.exact("b", NOW_MS) is not None
    await reader.stop()
    writer.close()


async def test_many_lookups_over_many_small_files_are_a_few_reads_and_all_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    keys = [f"k{at}" for at in range(120)]
    for at, key in enumerate(keys):
        writer.apply(batch(put(key), begin=at))
    reader = await reading_cold(settings, monkeypatch)
    at_once = most_at_once = reads = 0
    read = reader._bodies._read_version

    async def counted(name: str, seqs: list[int]) -> dict[int, str]:
        nonlocal at_once, most_at_once, reads
        reads, at_once = reads + 1, at_once + 1
        most_at_once = max(most_at_once, at_once)
        try:
            return await read(name, seqs)
        finally:
            at_once -= 1

    monkeypatch.setattr(reader._bodies, "_read_version", counted)
    found = await asyncio.gather(*(reader.exact(key, NOW_MS) for key in keys * 2))
    assert [one.cache_key if one is not None else None for one in found] == keys * 2
    assert most_at_once == 1
    assert reads <= 2
    await reader.stop()
    writer.close()


async def test_after_a_start_the_newest_answers_come_into_memory_by_themselves_and_no_more_than_fit(
    tmp_path: Path,
) -> None:
    settings = settings_in(tmp_path, memory_mib=1)
    long = {"results": [entry("x").results[0].model_copy(update={"body": "x" * 100_000})]}
    writer = opened(settings)
    for at in range(30):
        writer.apply(batch(put(f"k{at}", **long), begin=at))
    reader = await reading(settings)
    assert reader._bodies._task is not None
    await reader._bodies._task
    held = {at for at in range(30) if _place(reader, f"k{at}") in reader._answers._bodies}
    assert 8 <= len(held) <= 10
    assert held == set(range(30 - len(held), 30))
    assert reader._answers.bytes <= 1024 * 1024
    await reader.stop()
    writer.close()


async def test_lookups_go_before_what_is_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_MOST_AT_ONCE", 2)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*(put(f"k{at}") for at in range(40))))
    reader = await reading(settings)
    assert await reader.exact("k0", NOW_MS) is not None  # the oldest, and so the last to be read ahead
    assert len(reader._answers) < 40
    await reader.stop()
    writer.close()


@pytest.mark.filterwarnings("ignore:optimize.cleanup_older_than=0")  # that others may still read is what is tested
@pytest.mark.parametrize("sealed", [False, True])
async def test_an_answer_is_found_where_a_compaction_has_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool
) -> None:
    monkeypatch.setattr(segments, "KEPT_VERSIONS", timedelta(microseconds=1))
    if sealed:
        monkeypatch.setattr(segments, "SEGMENT_ROWS", 50)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    keys = [f"k{at}" for at in range(40)]
    for at, key in enumerate(keys):
        writer.apply(batch(put(key), begin=at))
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    monkeypatch.setattr(reader._bodies, "warm", lambda _: None)
    await reader.refresh()
    if sealed:
        writer.apply(batch(*(put(f"later{at}") for at in range(30)), begin=40))
        await reader.refresh()
    writer.optimize(wait=True)  # the files that the reader knows of are gone
    found = await asyncio.gather(*(reader.exact(key, NOW_MS) for key in keys))
    assert all(one is not None for one in found)
    assert reader.failure is None
    await reader.stop()
    writer.close()


async def test_an_answer_whose_segment_was_folded_into_the_newest_one_is_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 50)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*(put(f"k{at}", expires_at_ms=NOW_MS + DAY_MS * (1 + (at < 3))) for at in range(45))))
    writer.apply(batch(*(put(f"later{at}", expires_at_ms=NOW_MS + 3 * DAY_MS) for at in range(10)), begin=45))
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    monkeypatch.setattr(reader._bodies, "warm", lambda _: None)
    await reader.refresh()
    first = Store(settings.cache_path).segments()[0]
    writer.expire(NOW_MS + DAY_MS + 1)
    writer.optimize(wait=True)
    assert first not in Store(settings.cache_path).segments()
    found = await asyncio.gather(*(reader.exact(f"k{at}", NOW_MS + DAY_MS + 1) for at in range(3)))
    assert all(one is not None for one in found)
    await reader.stop()
    writer.close()


async def test_answers_in_memory_outlive_a_look_that_starts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.refresh()
    writer = opened(settings)
    writer.apply(batch(put("a")))
    await reader.refresh()
    with monkeypatch.context() as patch:
        patch.setattr(reader._follower._store, "segments", lambda: (_ for _ in ()).throw(OSError(5, "for a moment")))
        await reader.refresh()
    await reader.refresh()
    held = len(reader._answers)
    await reader.stop()
    assert held == 1
    writer.close()


def _place(reader: CacheReader, key: str) -> int:
    place = reader._index.get(hash64(key))
    assert place is not None
    return place.seq


async def test_a_reader_survives_whatever_a_look_stumbles_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    reader = await reading(settings)
    with monkeypatch.context() as patch:
        patch.setattr(reader._follower, "look", lambda: {}["no such column"])
        await eventually(lambda: reader.failure)
    writer.apply(batch(put("a")))
    await eventually(lambda: reader.exact("a", NOW_MS))
    assert reader.failure is None
    await reader.stop()
    writer.close()


async def test_a_reader_does_not_begin_empty_because_its_first_look_met_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    look, failures = reader._follower.look, [ViewDamaged("a segment was dropped while it was read")]

    def unlucky_once() -> Any:
        if failures:
            raise failures.pop()
        return look()

    monkeypatch.setattr(reader._follower, "look", unlucky_once)
    await reader.start()
    assert await reader.exact("a", NOW_MS) is not None
    await reader.stop()
    writer.close()


async def test_what_is_in_memory_can_be_asked_for(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    reader = await reading(settings)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b", semantic=False)))
    for key in "ab":
        await eventually(lambda key=key: reader.exact(key, NOW_MS))
    stats = reader.stats()
    assert (stats.entries, stats.answers, stats.vectors) == (2, 2, 1)
    assert min(stats.answer_bytes, stats.vector_bytes, stats.index_bytes) > 0
    assert not stats.older_indexed
    await reader.stop()
    writer.close()


async def test_an_answer_from_a_newer_version_is_a_miss(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = await reading(settings)
    place = reader._index.get(hash64("a"))
    assert place is not None
    reader._answers.put(place.seq, '{"field_of_the_future": 1}')
    assert await reader.exact("a", NOW_MS) is None
    await reader.stop()
    writer.close()


async def test_all_answers_for_a_text_are_found_newest_first(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(
        batch(
            put("one", query="it's asked", stored_at_ms=NOW_MS - 3),
            put("two", query="it's asked", provider="exa", stored_at_ms=NOW_MS - 1),
            put("over", query="it's asked", expires_at_ms=NOW_MS + DAY_MS // 2),
            put("other"),
            put("one", query="it's asked", stored_at_ms=NOW_MS - 2),
        )
    )
    reader = await reading(settings)
    found = await reader.get("it's asked", NOW_MS + DAY_MS // 2)
    assert [(one.cache_key, one.stored_at_ms) for one in found] == [("two", NOW_MS - 1), ("one", NOW_MS - 2)]
    assert await reader.get("never asked", NOW_MS) == []
    await reader.stop()
    writer.close()


async def test_a_reader_keeps_up_across_sealing_folding_and_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 10)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    reader = await reading(settings)
    for at in range(60):
        writer.apply(batch(put(f"k{at}", expires_at_ms=NOW_MS + (1 + at % 7) * DAY_MS), begin=at))
        if at % 9 == 0:
            writer.expire(NOW_MS)
            writer.optimize(wait=True)
        if at % 4 == 0:
            await reader.refresh()
    await reader.refresh()
    for at in range(60):
        found = await reader.exact(f"k{at}", NOW_MS)
        assert found is not None and found.cache_key == f"k{at}"
        assert (await reader.nearest("facet", vector(f"k{at}"), 1, NOW_MS))[0].entry.cache_key == f"k{at}"
    await reader.stop()
    writer.close()


async def test_a_look_that_fails_half_way_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.refresh()
    writer.apply(batch(put("b"), begin=1))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "count", lambda *_: (_ for _ in ()).throw(ViewDamaged("half a file")))
        await reader.refresh()
    assert reader.failure == "half a file"
    assert await reader.exact("a", NOW_MS) is not None
    await reader.refresh()
    assert reader.failure is None
    assert await reader.exact("b", NOW_MS) is not None
    await reader.stop()
    writer.close()


def test_the_asynchronous_side_of_a_handle_is_the_same_table(tmp_path: Path) -> None:
    """A private attribute of LanceDB is relied on: this fails loudly when a new version of it changes that."""
    settings = settings_in(tmp_path)
    writer = opened(settings)
    store = Store(settings.cache_path)
    [name] = store.segments()
    table = store.table(name)
    writer.apply(batch(put("a"), put("b")))

    async def rows() -> int:
        found = await store.asynchronous(name).query().where("kind = 0").select(["seq"]).to_arrow()
        return int(found.num_rows)

    assert asyncio.run(rows()) == 0
    table.checkout_latest()
    assert asyncio.run(rows()) == 2
    writer.close()
