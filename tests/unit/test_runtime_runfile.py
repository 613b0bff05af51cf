"""One `up` on a state folder, found by its run file; a file that a killed one left behind fools nobody."""

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from groundwire.streams.runtime.runfile import AlreadyRunning, HomeUnwritable, RunFile, is_starting, sole_occupant


def test_what_runs_is_found_with_its_broker_and_sandbox(tmp_path: Path) -> None:
    with sole_occupant(tmp_path):
        RunFile.of_this_process("127.0.0.1:9", embedded=True, sandbox="http://127.0.0.1:8").write(tmp_path)
        found = RunFile.read(tmp_path)
    assert found is not None
    assert (found.pid, found.brokers, found.embedded, found.sandbox) == (
        os.getpid(),
        "127.0.0.1:9",
        True,
        "http://127.0.0.1:8",
    )


def test_nothing_is_found_where_nothing_ever_ran(tmp_path: Path) -> None:
    assert RunFile.read(tmp_path / "no-such-folder") is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_a_file_that_can_not_be_read_is_no_file(content: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "up.json").write_text(content)
    assert RunFile.read(tmp_path) is None


def test_the_file_of_a_killed_one_is_stale_even_if_its_process_id_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    running = RunFile.of_this_process("b:1", embedded=False, sandbox=None)
    running.write(tmp_path)
    path = tmp_path / "run" / "up.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "started_at": document["started_at"] - 3_600}))
    assert RunFile.read(tmp_path) is None
    path.write_text(json.dumps({**document, "pid": 2**22 - 1}))
    assert RunFile.read(tmp_path) is None


def test_removing_it_twice_is_fine(tmp_path: Path) -> None:
    RunFile.remove(tmp_path)
    RunFile.remove(tmp_path)


def test_a_second_one_on_the_same_folder_is_turned_away_with_the_first_ones_address(tmp_path: Path) -> None:
    with sole_occupant(tmp_path):
        RunFile.of_this_process("127.0.0.1:4711", embedded=True, sandbox=None).write(tmp_path)
        with pytest.raises(AlreadyRunning, match=r"127\.0\.0\.1:4711.*GROUNDWIRE_HOME"), sole_occupant(tmp_path):
            pass
    with sole_occupant(tmp_path):
        pass


def _hold_and_die(home: Path, held: "multiprocessing.synchronize.Event") -> None:
    with sole_occupant(home):
        held.set()
        os._exit(9)


def test_the_lock_of_a_killed_one_is_free(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    process = context.Process(target=_hold_and_die, args=(tmp_path, held))
    process.start()
    process.join(30)
    assert held.is_set()
    with sole_occupant(tmp_path):
        pass


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeUnwritable, match=str(tmp_path / "file")), sole_occupant(tmp_path / "file"):
        pass


def test_one_that_holds_the_folder_and_is_not_ready_is_seen_to_be_starting(tmp_path: Path) -> None:
    assert not is_starting(tmp_path)
    with sole_occupant(tmp_path):
        assert is_starting(tmp_path)
        RunFile.of_this_process("127.0.0.1:9", embedded=True, sandbox=None).write(tmp_path)
        assert not is_starting(tmp_path)
        RunFile.remove(tmp_path)
    assert not is_starting(tmp_path)


@pytest.mark.parametrize("left_behind", ["", "[]", '{"pid": 4194303, "started_at": 1.0}', '{"pid": "x"}'])
def test_what_a_killed_one_left_behind_is_not_starting(left_behind: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "up.holder.json").write_text(left_behind)
    assert not is_starting(tmp_path)


def test_a_full_disk_is_told_of_before_anything_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        path.touch()
        if data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return 0

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HomeUnwritable, match=r"No space left on device.*GROUNDWIRE_HOME"), sole_occupant(tmp_path):
        pass
    assert list((tmp_path / "run").iterdir()) == []
