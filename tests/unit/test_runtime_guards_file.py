"""What a fetch worker writes down of its breakers, and whom a reader believes."""

import asyncio
import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from groundwire.streams.runtime import guards_file
from groundwire.streams.runtime.guards_file import Guards, Seen, keep_written, read_guards

ONE: Guards = {"alpha": Seen("open", 3), "beta": Seen("closed", 0)}


def left_behind(home: Path, **changes: Any) -> Path:
    """A file as a worker writes it; by default this very process is that worker."""
    document: dict[str, Any] = {
        "pid": os.getpid(),
        "started_at": psutil.Process().create_time(),
        "at": time.time(),
        "providers": {"alpha": {"breaker": "open", "under_way": 3}, "beta": {"breaker": "closed", "under_way": 0}},
        **changes,
    }
    file = home / "run" / f"fetch-{document['pid']}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))
    return file


async def until_there(home: Path) -> list[Guards]:
    async with asyncio.timeout(10):
        while not (found := read_guards(home)):
            await asyncio.sleep(0.01)
    return found


async def test_what_a_worker_sees_is_read_by_others_and_gone_when_it_ends(tmp_path: Path) -> None:
    task = asyncio.create_task(keep_written(tmp_path, lambda: ONE))
    assert await until_there(tmp_path) == [ONE]
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert read_guards(tmp_path) == []
    assert list((tmp_path / "run").iterdir()) == []


async def test_it_is_written_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards_file, "WRITE_EVERY_S", 0.01)
    states = iter(["closed", *["open"] * 10_000])
    task = asyncio.create_task(keep_written(tmp_path, lambda: {"alpha": Seen(next(states), 0)}))
    async with asyncio.timeout(10):
        while read_guards(tmp_path) != [{"alpha": Seen("open", 0)}]:
            await asyncio.sleep(0.01)
    task.cancel()


def test_a_worker_that_is_alive_and_well_is_believed(tmp_path: Path) -> None:
    left_behind(tmp_path)
    assert read_guards(tmp_path) == [ONE]


@pytest.mark.parametrize(
    "changes",
    [
        {"at": time.time() - 60},  # it hangs
        {"started_at": 1.0},  # another process has its number now
        {"pid": 2**22 + 1},  # it is gone
        {"pid": "seven"},
        {"providers": {"alpha": {"breaker": "open"}}},
        {"providers": ["alpha"]},
    ],
)
def test_any_other_is_passed_over(tmp_path: Path, changes: dict[str, Any]) -> None:
    left_behind(tmp_path, **changes)
    assert read_guards(tmp_path) == []


def test_half_a_file_is_passed_over(tmp_path: Path) -> None:
    file = left_behind(tmp_path)
    file.write_text(file.read_text()[:40])
    assert read_guards(tmp_path) == []


async def test_what_killed_workers_left_is_swept_up(tmp_path: Path) -> None:
    dead = left_behind(tmp_path, pid=2**22 + 1)
    task = asyncio.create_task(keep_written(tmp_path, lambda: ONE))
    await until_there(tmp_path)
    assert not dead.exists()
    task.cancel()


async def test_a_folder_that_can_not_be_written_does_not_end_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards_file, "WRITE_EVERY_S", 0.01)
    (tmp_path / "run").write_text("a file where the folder should be")
    task = asyncio.create_task(keep_written(tmp_path, lambda: ONE))
    await asyncio.sleep(0.1)
    assert not task.done()
    (tmp_path / "run").unlink()
    assert await until_there(tmp_path) == [ONE]
    task.cancel()
