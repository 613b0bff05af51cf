"""Damaged files: set aside, said, and read again from the log; never served, never in the way."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.lake.cache import segments
from groundwire.lake.cache.errors import ViewDamaged
from groundwire.lake.cache.recovery import ASIDE
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.settings import Settings
from tests.unit.cache_views import TinyEmbedder, batch, keys_in, opened, put, settings_in

KEYS = [f"k{at}" for at in range(30)]


def truncated(folder: Path) -> None:
    for file in (folder / "data").glob("*.lance"):
        with file.open("r+b") as opened_file:
            opened_file.truncate(file.stat().st_size // 2)


def emptied(folder: Path) -> None:
    for file in (folder / "data").glob("*.lance"):
        file.unlink()


def junk_manifest(folder: Path) -> None:
    for file in (folder / "_versions").glob("*.manifest"):
        file.write_bytes(b"junk")


def zeroed(folder: Path) -> None:
    for file in (folder / "data").glob("*.lance"):
        file.write_bytes(bytes(file.stat().st_size))


DAMAGES = [truncated, emptied, junk_manifest, zeroed]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_view_is_set_aside_and_filled_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*map(put, KEYS)))
    writer.close()
    [name] = Store(settings.cache_path).segments()
    damage(settings.cache_path / f"{name}.lance")

    writer = CacheWriter(settings, TinyEmbedder())  # type: ignore[arg-type]
    found = writer.open()
    assert found.entries == 0
    assert name in (found.message or "")
    assert "from the log" in (found.message or "")
    assert writer.positions() == {}
    assert len(list((settings.cache_path / ASIDE).iterdir())) == 1
    assert await keys_in(settings, KEYS) == set()
    writer.apply(batch(*map(put, KEYS)))
    writer.close()
    assert await keys_in(settings, KEYS) == set(KEYS)
    again = CacheWriter(settings, TinyEmbedder())  # type: ignore[arg-type]
    assert again.open().message is None
    assert again.positions() == {0: 30}
    again.close()


def three_segments(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ten keys a segment; the first ends at position 10, the second at 20."""
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 12)
    writer = opened(settings)
    for begin in (0, 10, 20):
        writer.apply(batch(*map(put, KEYS[begin : begin + 10]), begin=begin))
    writer.close()
    return Store(settings.cache_path).segments()


@pytest.mark.parametrize(
    ("at", "position", "left"), [(0, {}, KEYS[10:]), (1, {0: 10}, KEYS[:10] + KEYS[20:]), (2, {0: 20}, KEYS[:20])]
)
def test_only_the_damaged_segment_is_lost_and_the_log_is_read_from_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, position: dict[int, int], left: list[str]
) -> None:
    settings = settings_in(tmp_path)
    names = three_segments(settings, monkeypatch)
    truncated(settings.cache_path / f"{names[at]}.lance")
    writer = opened(settings)
    assert writer.positions() == position
    assert asyncio.run(keys_in(settings, KEYS)) == set(left)
    writer.close()
    # A crash before anything else was written must not bring positions back that lead.
    writer = opened(settings)
    assert writer.positions() == position
    begin = position.get(0, 0)
    writer.apply(batch(*map(put, KEYS[begin:]), begin=begin))
    assert writer.positions() == {0: 30}
    writer.close()
    assert asyncio.run(keys_in(settings, KEYS)) == set(KEYS)


def test_a_table_that_was_just_being_made_is_nothing_to_speak_of(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*map(put, KEYS)))
    writer.close()
    half = settings.cache_path / "entries_9999999999999999.lance"
    (half / "data").mkdir(parents=True)
    (half / "data" / "0.lance").write_bytes(b"half a file")
    assert asyncio.run(keys_in(settings, KEYS)) == set(KEYS)
    writer = CacheWriter(settings, TinyEmbedder())  # type: ignore[arg-type]
    found = writer.open()
    assert (found.entries, found.message) == (30, None)
    assert writer.positions() == {0: 30}
    assert not half.exists()
    writer.close()


def test_unreadable_positions_are_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    opened(settings).close()
    monkeypatch.setattr("groundwire.lake.cache.writer.read_positions", lambda body: {}["positions"])
    with pytest.raises(ViewDamaged, match="positions can't be read"):
        opened(settings)
    monkeypatch.undo()
    opened(settings).close()  # and the lock was given back


def test_no_more_than_a_few_damaged_segments_are_kept(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    for _ in range(5):
        writer = opened(settings)
        writer.apply(batch(put("a")))
        writer.close()
        emptied(settings.cache_path / f"{Store(settings.cache_path).segments()[-1]}.lance")
    opened(settings).close()
    assert len(list((settings.cache_path / ASIDE).iterdir())) == 3


def test_a_lost_folder_costs_nothing_but_a_refill(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    writer.apply(batch(*map(put, KEYS)))
    writer.close()
    shutil.rmtree(tmp_path)
    writer = opened(settings)
    assert writer.positions() == {}
    writer.apply(batch(*map(put, KEYS)))
    writer.close()
    assert asyncio.run(keys_in(settings, KEYS)) == set(KEYS)
