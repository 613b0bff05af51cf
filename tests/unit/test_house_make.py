"""The front door: the make targets there are, and what CI asks of them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("setup", "demo", "test", "check", "bench", "clean", "test-kafka", "test-kafka-long", "help")


def _makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", TARGETS)
def test_the_target_is_there_and_help_says_so(target: str) -> None:
    assert re.search(rf"^{target}:", _makefile(), re.MULTILINE)
    if target != "help":
        assert re.search(rf'@echo "make {target}  ', _makefile())


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in {"clean", "help"}])
def test_every_target_that_needs_the_virtual_environment_sets_it_up(target: str) -> None:
    prerequisites = re.search(rf"^{target}:(.*)$", _makefile(), re.MULTILINE)
    assert prerequisites is not None
    assert "$(STAMP)" in prerequisites[1]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on PATH")
def test_a_python_that_is_too_old_or_not_there_is_said_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "setup", "PYTHON=no-such-python", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Groundwire needs Python 3.11 or newer, and PYTHON=no-such-python is not one." in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on PATH")
def test_a_folder_that_is_no_virtual_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    done = subprocess.run(
        ["make", "--no-print-directory", "setup", f"VENV={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "is not a virtual environment; it was left alone" in done.stderr
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_ci_runs_all_that_is_promised() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script
    for command in ("run_tests test ", "make check", "run_tests test-kafka "):
        assert command in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on PATH")
def test_ci_is_a_script_bash_can_read() -> None:
    subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=True)
