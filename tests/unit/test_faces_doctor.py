"""What doctor says of the folders that Groundwire writes."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from groundwire.schemas.settings import CacheSettings, Settings
from groundwire.streams.faces import doctor


async def test_a_disk_with_little_room_and_one_that_takes_nothing_are_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "other" / "cache"
    cache.mkdir(parents=True)
    settings = Settings(home=tmp_path / "home", cache=CacheSettings(path=cache))

    def usage(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(free=5 * 1024**2 if folder == cache else 50 * 1024**3)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    found = {check.name: check for check in await doctor._disk(settings)}
    assert found["state folder"].ok and found["lake"].ok
    assert not found["cache folder"].ok
    assert "only 5 MiB free" in found["cache folder"].message
    assert "free space" in found["cache folder"].advice
    monkeypatch.setattr(doctor, "_writable", lambda folder: folder != cache)
    [told] = [check for check in await doctor._disk(settings) if not check.ok]
    assert (told.name, told.message) == ("cache folder", f"{cache} can't be written")
