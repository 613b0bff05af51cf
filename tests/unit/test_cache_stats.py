"""What `cache stats` and doctor are told about a view."""

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundwire.lake.cache import segments, vector_table
from groundwire.lake.cache.stats import cache_stats, view_health
from groundwire.lake.cache.store import Store
from groundwire.streams.faces.cli.main import app
from tests.unit.cache_views import DAY_MS, NOW_MS, batch, opened, put, settings_in


def test_live_entries_are_counted_by_what_they_are(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    moment = NOW_MS + DAY_MS
    lasting = {"expires_at_ms": moment + DAY_MS}
    writer.apply(
        batch(
            put("a", **lasting),
            put("b", provider="exa", freshness="live", stored_at_ms=moment - 2 * 3_600_000, **lasting),
            put("c", semantic=False, stored_at_ms=moment - 40 * DAY_MS, **lasting),
            put("over", expires_at_ms=moment),
        )
    )
    writer.apply(batch(put("a", provider="exa", stored_at_ms=moment - 1000, **lasting), begin=4))
    stats = cache_stats(settings, moment)
    assert (stats.entries, stats.semantic_entries, stats.ended, stats.superseded) == (3, 2, 1, 1)
    assert stats.providers == {"exa": 2, "serper": 1}
    assert stats.freshness == {"slow": 2, "live": 1}
    assert stats.models == {"tiny": 2}
    assert stats.ages == {"hour": 1, "day": 1, "week": 0, "month": 0, "older": 1}
    assert (stats.oldest_age_s, stats.newest_age_s) == (40 * 86_400, 1.0)
    assert stats.segments == 1
    assert stats.bytes == stats.tables[0].bytes > 0
    writer.close()


def test_tables_say_how_far_their_index_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 301)
    monkeypatch.setattr(segments, "_INDEX_ROWS", 100)
    monkeypatch.setattr(vector_table, "INDEX_ROWS", 256)
    settings = settings_in(tmp_path)
    writer = opened(settings)
    for begin in (0, 290):
        writer.apply(batch(*(put(f"k{at}") for at in range(begin, begin + 290)), begin=begin))
    writer.optimize(wait=True)
    tables = cache_stats(settings, NOW_MS).tables
    assert [table.name.split("_")[0] for table in tables] == ["entries", "entries", "vectors"]
    assert tables[0].indexed == tables[0].rows
    assert tables[2].indexed == tables[2].rows == 290
    writer.close()


def test_no_view_yet_is_an_empty_one_and_nothing_is_made(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "home")
    stats = cache_stats(settings)
    assert (stats.entries, stats.oldest_age_s, stats.tables, stats.bytes) == (0, None, [], 0)
    assert view_health(settings)[0]
    assert not (tmp_path / "home").exists()


def test_health_is_one_line_either_way(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    assert cache_stats(settings).entries == 0
    writer.apply(batch(put("a")))
    writer.close()
    healthy, line = view_health(settings)
    assert healthy and line.startswith("1 live entries in ")
    [name] = Store(settings.cache_path).segments()
    for file in (settings.cache_path / f"{name}.lance" / "data").iterdir():
        file.unlink()
    healthy, line = view_health(settings)
    assert not healthy and "can't be read" in line


def test_the_command_shows_ages_and_tables(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    writer = opened(settings)
    now_ms = time.time_ns() // 1_000_000
    week_ms = 7 * DAY_MS
    writer.apply(
        batch(put("a"), put("b"), put("old", stored_at_ms=now_ms - 2 * DAY_MS, expires_at_ms=now_ms + week_ms))
    )
    writer.close()
    said = CliRunner().invoke(app, ["--home", str(tmp_path), "cache", "stats"]).output
    assert "hour 2 · week 1" in " ".join(said.split())
    [name] = Store(settings.cache_path).segments()
    assert f"{name}: 5 rows, 0 indexed" in said
    document = json.loads(CliRunner().invoke(app, ["--home", str(tmp_path), "cache", "stats", "--json"]).output)
    assert document["ages"] == {"hour": 2, "day": 0, "week": 1, "month": 0, "older": 0}
    assert [table["name"] for table in document["tables"]] == [name]
