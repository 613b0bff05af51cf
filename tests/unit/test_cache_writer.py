"""The writer: what it promises about its place in the log, and about the files it keeps."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundwire.lake.cache import segments
from groundwire.lake.cache.errors import ViewDamaged, WriterBusy
from groundwire.lake.cache.layout import PUT
from groundwire.lake.cache.stats import cache_stats
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.settings import Settings
from tests.unit.cache_views import (
    DAY_MS,
    NOW_MS,
    TinyEmbedder,
    batch,
    entry,
    keys_in,
    opened,
    purge,
    put,
    settings_in,
)


async def test_the_place_in_the_log_is_kept_with_the_data(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    assert writer.positions() == {}
    writer.apply([*batch(put("a"), put("b"), begin=40), *batch(put("c"), partition=3, begin=7)])
    assert writer.positions() == {0: 42, 3: 8}
    writer.close()
    again = opened(settings)
    assert again.positions() == {0: 42, 3: 8}
    again.apply(batch(None, partition=3, begin=8))
    again.close()
    assert opened(settings).positions() == {0: 42, 3: 9}
    assert await keys_in(settings, "abc") == {"a", "b", "c"}


def test_positions_of_another_log_are_forgotten_and_its_entries_kept(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings, log_id="first")
    writer.apply(batch(put("a"), begin=40))
    writer.close()
    other = opened(settings, log_id="second")
    assert other.positions() == {}
    other.apply(batch(put("b")))
    assert other.positions() == {0: 1}
    other.close()
    assert asyncio.run(keys_in(settings, "ab")) == {"a", "b"}


def test_a_log_that_starts_again_at_the_beginning_moves_the_position_back(tmp_path: Path) -> None:
    writer = opened(settings_in(tmp_path))
    writer.apply(batch(put("a"), begin=1000))
    writer.apply(batch(put("b"), begin=0))
    assert writer.positions() == {0: 1}
    writer.close()


KILLED = """
    import sys
    from pathlib import Path
    from tests.unit.cache_views import batch, opened, purge, put, settings_in

    writer = opened(settings_in(Path(sys.argv[1])))
    offset = 0
    while True:
        # A purge of what came two batches before, so that a kill may also fall between its deletion and the commit.
        writer.apply(batch(put(f"k{offset}"), purge(query=f"k{offset - 4}"), begin=offset))
        offset += 2
        print(offset, flush=True)
"""


def test_a_writer_killed_at_any_moment_has_lost_and_doubled_nothing(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = Path(__file__).parents[2]
    for kill in range(2):
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        acknowledged = 0
        for _ in range(5 + kill):
            acknowledged = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        writer = opened(settings)
        position = writer.positions()[0]
        assert position >= acknowledged
        keys = [f"k{offset}" for offset in range(0, position + 10, 2)]
        writer.close()
        assert asyncio.run(keys_in(settings, keys)) == {f"k{position - 2}", f"k{position - 4}"}


def test_a_batch_applied_again_changes_nothing(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    changes = batch(put("a"), put("b"), purge(query="a"), put("a", stored_at_ms=NOW_MS + 5), put("c"), purge(query="c"))
    for _ in range(3):
        writer.apply(changes)
    writer.close()
    assert asyncio.run(keys_in(settings, "abc")) == {"a", "b"}
    assert cache_stats(settings).entries == 2


def test_a_second_writer_is_told_to_stand_by_and_may_follow(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    first = opened(settings)
    second = CacheWriter(settings)
    with pytest.raises(WriterBusy, match="stands by"):
        second.open()
    first.apply(batch(put("a")))
    first.close()
    assert second.open().entries == 1
    assert second.positions() == {0: 1}
    second.close()


def test_entries_that_are_over_are_not_written_and_end_what_they_replace(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b", expires_at_ms=NOW_MS - 1)))
    writer.apply(batch(put("a", expires_at_ms=NOW_MS - 1), begin=2))
    writer.close()
    stats = cache_stats(settings)
    assert (stats.entries, stats.ended, stats.superseded) == (0, 0, 0)


def test_over_is_later_where_stale_answers_are_allowed(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, stale_if_error_s=3600)
    writer = opened(settings)
    writer.apply(batch(put("a", expires_at_ms=NOW_MS - 1000), put("b", expires_at_ms=NOW_MS - 3_700_000)))
    assert writer.expire(NOW_MS) == 0
    assert writer.expire(NOW_MS + 3_600_000) == 1
    writer.close()


async def test_expiry_gives_the_room_back_and_touches_nothing_alive(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a", expires_at_ms=NOW_MS + DAY_MS), put("b", expires_at_ms=NOW_MS + 2 * DAY_MS)))
    # Its short-lived answer was replaced by a longer one, and the other way round.
    writer.apply(batch(put("c", expires_at_ms=NOW_MS + DAY_MS), put("d", expires_at_ms=NOW_MS + 3 * DAY_MS), begin=2))
    writer.apply(batch(put("c", expires_at_ms=NOW_MS + 3 * DAY_MS), put("d", expires_at_ms=NOW_MS + DAY_MS), begin=4))
    assert writer.expire(NOW_MS + DAY_MS) == 2
    writer.close()
    assert await keys_in(settings, "abcd", NOW_MS + DAY_MS) == {"b", "c"}
    assert cache_stats(settings, NOW_MS + DAY_MS).ended == 0


async def test_stricter_storage_terms_reach_what_is_stored_already(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(
        batch(
            put("young", provider="exa"),
            put("old", provider="exa", stored_at_ms=NOW_MS - 11_000),
            put("brave", provider="brave"),
            put("serper"),
        )
    )
    assert writer.enforce_terms({}, NOW_MS) == 0
    assert writer.enforce_terms({"exa": 10, "brave": 0}, NOW_MS) == 2
    assert writer.positions() == {0: 4}
    writer.close()
    assert await keys_in(settings, ["young", "old", "brave", "serper"]) == {"young", "serper"}


def test_terms_that_forbid_nothing_touch_no_file(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a", provider="exa")))
    [name] = Store(settings.cache_path).segments()
    before = Store(settings.cache_path).versions(name)
    assert writer.enforce_terms({"exa": 3600, "brave": 0}, NOW_MS) == 0
    assert Store(settings.cache_path).versions(name) == before
    writer.close()


def test_many_small_files_are_tidied_by_their_number_and_not_by_the_clock_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "CROWDED_AT_COMMITS", 40)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    for at in range(38):
        writer.apply(batch(put(f"k{at}"), begin=at))
    assert not writer.crowded
    writer.thin_out()
    [name] = Store(settings.cache_path).segments()
    assert _files(settings, name) == 39
    writer.apply(batch(put("one more"), begin=38))
    assert writer.crowded
    writer.thin_out()
    assert not writer.crowded
    assert _files(settings, name) == 1
    assert cache_stats(settings).entries == 39
    writer.close()


def _files(settings: Settings, name: str) -> int:
    return int(Store(settings.cache_path).table(name).stats()["fragment_stats"]["num_fragments"])


async def test_a_text_that_the_model_cannot_read_to_its_end_gets_no_vector(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    embedder = TinyEmbedder()
    writer = CacheWriter(settings, embedder)  # type: ignore[arg-type]
    writer.open()
    writer.apply(batch(put("long", query="word " * 300, with_vector=False), put("short", with_vector=False)))
    writer.close()
    assert embedder.asked == ["short"]
    assert cache_stats(settings, NOW_MS).semantic_entries == 1


async def test_a_vector_is_made_where_none_came_and_only_for_the_semantic_tier(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    embedder = TinyEmbedder()
    writer = CacheWriter(settings, embedder)  # type: ignore[arg-type]
    writer.open()
    foreign = Embedding.of("another-model", [1.0] * 4)
    broken = Embedding(model="tiny", dimensions=64, float16="AAAA")
    writer.apply(
        batch(
            put("came"),
            put("missing", with_vector=False),
            put("foreign", embedding=foreign),
            put("broken", embedding=broken),
            put("exact-only", with_vector=False, semantic=False),
        )
    )
    writer.close()
    assert embedder.asked == ["missing", "foreign", "broken"]
    assert cache_stats(settings).models == {"tiny": 4}


def test_without_a_model_the_vectors_that_came_are_kept(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = CacheWriter(settings)
    writer.open()
    writer.apply(batch(put("a"), put("b", with_vector=False)))
    writer.optimize(wait=True)
    writer.close()
    assert cache_stats(settings).semantic_entries == 1


def test_full_segments_are_sealed_emptied_ones_dropped_and_sparse_ones_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 40)
    settings = settings_in(tmp_path)
    store = Store(settings.cache_path)
    writer = opened(settings)
    keys = [f"k{number}" for number in range(100)]
    lasting = {*keys[30:35], *keys[60:]}
    for begin in range(0, 100, 10):
        ends = {key: NOW_MS + (5 if key in lasting else 1) * DAY_MS for key in keys[begin : begin + 10]}
        writer.apply(batch(*(put(key, expires_at_ms=end) for key, end in ends.items()), begin=begin))
    sealed = store.segments()
    assert len(sealed) == 4
    assert asyncio.run(keys_in(settings, keys)) == set(keys)
    # The first loses everything, the second keeps five.
    assert writer.expire(NOW_MS + 2 * DAY_MS) == 55
    writer.optimize(wait=True)
    assert sealed[0] not in store.segments()
    writer.optimize(wait=True)
    assert sealed[1] not in store.segments()
    assert asyncio.run(keys_in(settings, keys, NOW_MS + 2 * DAY_MS)) == lasting
    assert writer.positions() == {0: 100}
    writer.close()
    again = opened(settings)
    assert again.positions() == {0: 100}
    again.close()


def test_tidying_leaves_few_files_and_every_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_INDEX_ROWS", 10)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    for offset in range(40):
        writer.apply(batch(put(f"k{offset % 20}"), begin=offset))
    writer.optimize()
    store = Store(settings.cache_path)
    [name] = store.segments()
    assert store.read(name, ["seq"], f"kind = {PUT}").num_rows == 20
    assert store.table(name).stats()["fragment_stats"]["num_fragments"] == 1
    assert [index.columns for index in store.table(name).list_indices()] == [["seq"]]
    assert asyncio.run(keys_in(settings, [f"k{number}" for number in range(20)])) == {
        f"k{number}" for number in range(20)
    }
    assert writer.positions() == {0: 40}
    writer.close()


@contextmanager
def no_room() -> Iterator[None]:
    """The operating system refuses to make any file longer than a few bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_a_disk_that_takes_nothing_more_is_said_and_the_batch_can_come_again(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a"), put("b")))
    refused = batch(put("c"), put("a", provider="exa"), purge(query="b"), begin=2)
    with no_room():
        for attempt in (
            lambda: writer.apply(refused),
            lambda: writer.expire(NOW_MS + 9 * DAY_MS),
            lambda: writer.apply(refused),
        ):
            with pytest.raises(OSError, match="cache view"):
                attempt()
        assert writer.positions() == {0: 2}
        assert asyncio.run(keys_in(settings, "abc")) == {"a", "b"}
    writer.apply(refused)
    assert writer.positions() == {0: 5}
    writer.close()
    assert asyncio.run(keys_in(settings, "abc")) == {"a", "c"}
    assert cache_stats(settings).entries == 2


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file stands where the folder should be")
    with pytest.raises(OSError, match="cache view") as caught:
        opened(settings_in(tmp_path / "home"))
    assert str(tmp_path / "home") in str(caught.value)


def test_files_that_vanish_under_the_writer_are_damage_and_not_a_full_disk(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(put("a")))
    for file in settings.cache_path.rglob("data/*.lance"):
        file.unlink()
    with pytest.raises(ViewDamaged):
        writer.apply(batch(purge(), begin=1))
        writer.optimize()
    writer.close()


def test_an_empty_batch_writes_nothing(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    store = Store(settings.cache_path)
    [name] = store.segments()
    version = store.latest(name).version
    writer.apply([])
    assert store.latest(name).version == version
    writer.close()


def test_the_stored_body_has_everything_but_the_vector(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    kept = entry("a", language="ko", tenant="acme", cost_micro_usd=None)
    writer.apply([(0, 1, put("a", language="ko", tenant="acme", cost_micro_usd=None))])
    writer.close()
    store = Store(settings.cache_path)
    body = store.read(store.segments()[0], ["body"], f"kind = {PUT}")["body"][0].as_py()
    assert type(kept).model_validate_json(body) == kept.model_copy(update={"embedding": None})
