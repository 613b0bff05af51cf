"""Vectors in memory, and the table of those that no longer are."""

import asyncio
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from groundwire.lake.cache import segments, vector_table, view
from groundwire.lake.cache.layout import first_seq, unpacked, vectors_name
from groundwire.lake.cache.older import OlderVectors
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.vectors import VectorMemory
from groundwire.lake.cache.view import CacheReader
from groundwire.lake.cache.writer import CacheWriter
from tests.unit.cache_views import (
    DIMENSIONS,
    MODEL,
    NOW_MS,
    TinyEmbedder,
    batch,
    opened,
    purge,
    put,
    settings_in,
    vector,
)

TABLE = vectors_name(MODEL, DIMENSIONS)


def rows(*values: list[float]) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_nearest_rows_of_a_facet_come_nearest_first() -> None:
    memory = VectorMemory(2)
    memory.add(
        rows([1, 0], [0, 1], [0.6, 0.8]), np.array([1, 2, 3]), np.array([11, 12, 13]), np.array([5, 5, 5]), "abc"
    )
    memory.add(rows([1, 0]), np.array([4]), np.array([14]), np.array([6]), ["d"])
    snapshot = memory.snapshot(5)
    assert snapshot is not None
    found = snapshot.nearest(np.array([0, 1], np.float32), 2)
    assert [(one.query, one.seq, one.key_hash) for one in found] == [("b", 2, 12), ("c", 3, 13)]
    assert [one.similarity for one in found] == pytest.approx([1, 0.8])
    assert len(snapshot.nearest(np.array([0, 1], np.float32), 10)) == 3
    assert snapshot.nearest(np.array([0, 1], np.float32), 0) == []
    assert memory.snapshot(7) is None
    assert len(memory) == 4


def test_a_snapshot_does_not_change_when_rows_come_and_go() -> None:
    memory = VectorMemory(2)
    many = rows(*([[1, 0]] * 100))
    memory.add(many, np.arange(100), np.arange(100), np.full(100, 5), ["old"] * 100)
    snapshot = memory.snapshot(5)
    memory.add(rows(*([[0, 1]] * 300)), np.arange(100, 400), np.arange(300), np.full(300, 5), ["new"] * 300)
    memory.trim(350)
    assert snapshot is not None
    assert len(snapshot) == 100
    assert {one.query for one in snapshot.nearest(np.array([0, 1], np.float32), 100)} == {"old"}


def test_trimming_keeps_the_newest_of_all_facets() -> None:
    memory = VectorMemory(2)
    assert memory.newest(3) == 0
    for seq in range(10):
        memory.add(rows([1, 0]), np.array([seq]), np.array([seq]), np.array([seq % 2]), [str(seq)])
    memory.add(rows([1, 0]), np.array([10]), np.array([10]), np.array([7]), ["10"])
    assert memory.newest(3) == 8
    assert memory.newest(99) == 0
    memory.trim(8)
    assert len(memory) == 3
    assert sorted(
        one.seq for facet in (0, 1, 7) for one in memory.snapshot(facet).nearest(np.zeros(2, np.float32), 9)
    ) == [8, 9, 10]  # type: ignore[union-attr]
    memory.trim(10)
    assert memory.snapshot(0) is None
    assert memory.bytes > 0
    memory.clear()
    assert (len(memory), memory.bytes) == (0, 0)


def test_stored_vectors_come_back_with_length_one() -> None:
    packed = [np.array(values, "<f2").tobytes() for values in ([9, 9], [3, 4], [0, 0], [0, 2])]
    column = pa.chunked_array([pa.array(packed[:3], pa.binary())[1:], pa.array(packed[3:], pa.binary())])
    assert unpacked(column, 2).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0], [0, 1]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of 300 rows and an index from 256 on, of which a test can fill some."""
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 301)
    monkeypatch.setattr(vector_table, "INDEX_ROWS", 256)
    monkeypatch.setattr(vector_table, "ROWS_PER_LIST", 128)


KEYS = [f"k{at}" for at in range(1000)]


def filled(writer: CacheWriter) -> None:
    for begin in range(0, 1000, 100):
        writer.apply(
            batch(*(put(key, facet=f"facet{at % 2}") for at, key in enumerate(KEYS[begin : begin + 100])), begin=begin)
        )


async def found_by_vector(reader: CacheReader, at: int) -> str | None:
    near = await reader.nearest(f"facet{at % 2}", vector(KEYS[at]), 1, NOW_MS)
    return near[0].entry.cache_key if near and near[0].similarity > 0.99 else None


@pytest.mark.usefixtures("small")
async def test_vectors_beyond_memory_are_found_through_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_SEARCH_INLINE_ROWS", 10)
    settings = settings_in(tmp_path, semantic={"memory_rows": 50})
    writer = opened(settings)
    filled(writer)
    writer.optimize(wait=True)
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.start()
    assert reader._coverage.indexed
    assert len(reader._vectors) < 400
    for at in range(0, 1000, 37):
        assert await found_by_vector(reader, at) == KEYS[at]
    # What is purged is not found, although the index still has it.
    writer.apply(batch(purge(query=KEYS[74]), begin=1000))
    await reader.refresh()
    assert await found_by_vector(reader, 74) is None
    assert await found_by_vector(reader, 37) == KEYS[37]
    await reader.stop()
    writer.close()


@pytest.mark.usefixtures("small")
async def test_a_reader_that_was_there_lets_go_of_what_the_table_has(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, semantic={"memory_rows": 50})
    writer = opened(settings)
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.refresh()
    filled(writer)
    await reader.refresh()
    assert len(reader._vectors) == 1000
    writer.optimize(wait=True)
    await reader.refresh()
    assert len(reader._vectors) < 400
    for at in range(0, 1000, 37):
        assert await found_by_vector(reader, at) == KEYS[at]
    await reader.stop()
    writer.close()


@pytest.mark.usefixtures("small")
async def test_a_table_of_vectors_that_is_broken_is_misses_and_made_again(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, semantic={"memory_rows": 50})
    writer = opened(settings)
    filled(writer)
    writer.optimize(wait=True)
    writer.close()
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.refresh()
    for file in (settings.cache_path / f"{TABLE}.lance").rglob("*.lance"):
        file.unlink()
    for file in (settings.cache_path / f"{TABLE}.lance" / "_indices").rglob("*.idx"):
        file.unlink()
    reader._store.close()
    assert await found_by_vector(reader, 0) is None
    assert await reader.exact(KEYS[0], NOW_MS) is not None
    writer = opened(settings)
    writer.optimize(wait=True)
    await reader.refresh()
    assert await found_by_vector(reader, 0) == KEYS[0]
    await reader.stop()
    writer.close()


@pytest.mark.usefixtures("small")
def test_the_index_is_laid_out_again_when_the_rows_have_doubled(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    store = Store(settings.cache_path)
    seen = []
    for begin in range(0, 1000, 100):
        writer.apply(batch(*map(put, KEYS[begin : begin + 100]), begin=begin))
        writer.optimize(wait=True)
        if TABLE in store.table_names():
            names = {index.name for index in store.latest(TABLE).list_indices()}
            seen.append(sorted(name for name in names if name != "facet"))
            coverage = OlderVectors(store, TABLE, DIMENSIONS).coverage()
            assert coverage.indexed == bool(names)
            assert coverage.last_seq >= (first_seq(store.segments()[-2]) or 0)
    assert [one for at, one in enumerate(seen) if one not in seen[:at]] == [[], ["vector_at_400"], ["vector_at_800"]]
    writer.close()


@pytest.mark.usefixtures("small")
def test_dead_vectors_are_cleared_from_the_table(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    filled(writer)
    writer.optimize(wait=True)
    store = Store(settings.cache_path)
    before = store.count(TABLE)
    writer.apply(batch(*(purge(query=key) for key in KEYS[:500]), begin=1000))
    writer.optimize(wait=True)
    store.latest(TABLE)
    assert store.count(TABLE) <= before - 500
    writer.close()


def test_tables_of_models_no_longer_used_are_dropped(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    opened(settings).close()
    store = Store(settings.cache_path)
    store.create("vectors__old-model__4", vector_table.vectors_schema(4))
    opened(settings).close()
    assert Store(settings.cache_path).table_names() == store.segments()


@pytest.mark.usefixtures("small")
def test_a_full_disk_under_the_index_is_said_and_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    writer = CacheWriter(settings, TinyEmbedder())  # type: ignore[arg-type]
    writer.open()
    filled(writer)

    def full(*_: object) -> None:
        raise OSError(28, "no room")

    monkeypatch.setattr(Store, "create", full)
    writer.optimize(wait=True)
    monkeypatch.undo()
    assert TABLE not in Store(settings.cache_path).table_names()
    writer.apply(batch(put("more"), begin=1000))
    writer.close()
    reader = CacheReader(settings, MODEL, DIMENSIONS)

    async def look() -> bool:
        await reader.start()
        found = await reader.exact("more", NOW_MS)
        await reader.stop()
        return found is not None

    assert asyncio.run(look())
