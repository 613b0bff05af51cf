"""A person's verdict outweighs the verifier."""

import json
import os
from pathlib import Path

import pytest

from groundwire.lake.cache import vetoes as module
from groundwire.lake.cache.vetoes import Vetoes


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_EVERY_S", 0.0)


def add(path: Path, stored: str, asked: str, same: int) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"a": stored, "b": asked, "same": same}) + "\n")


def test_a_pair_called_wrong_is_forbidden_in_that_direction_only(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    add(path, "stored", "asked", 0)
    add(path, "other", "asked", 1)
    vetoes = Vetoes(path)
    assert vetoes.forbids("asked", "stored")
    assert not vetoes.forbids("stored", "asked")
    assert not vetoes.forbids("asked", "other")


def test_verdicts_are_followed_while_the_file_grows_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    vetoes = Vetoes(path)
    assert not vetoes.forbids("asked", "stored")
    add(path, "stored", "asked", 0)
    assert vetoes.forbids("asked", "stored")
    add(path, "stored", "asked", 1)
    assert not vetoes.forbids("asked", "stored")
    path.unlink()
    add(path, "stored", "asked", 0)
    assert vetoes.forbids("asked", "stored")


def test_a_spoiled_file_does_not_undo_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    add(path, "stored", "asked", 0)
    vetoes = Vetoes(path)
    assert vetoes.forbids("asked", "stored")
    path.write_text("not a line of ours\n")
    os.utime(path, ns=(1, 1))
    assert vetoes.forbids("asked", "stored")
