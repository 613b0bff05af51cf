"""Ctrl-C is quiet and ends with 130, whenever it comes."""

import signal
import subprocess
import sys

import pytest

from groundwire.streams.faces.cli import main, start

# Interrupts itself while the program is being imported.
INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "groundwire.streams.faces.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["groundwire", "--version"]
from groundwire.streams.faces.cli.start import run_command
run_command()
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)


def test_ctrl_c_during_the_imports_is_quiet() -> None:
    done = run(INTERRUPTED_IMPORT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_that_is_ignored_stays_ignored() -> None:
    """So a shell starts jobs in the background."""
    done = run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + INTERRUPTED_IMPORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("groundwire ")


def wrapped() -> int:
    """What a class body does to an interruption on Python 3.11."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interruption:
        raise RuntimeError("Error calling __set_name__") from interruption


def unwrapped() -> int:
    raise KeyboardInterrupt


def broken() -> int:
    raise RuntimeError("a defect")


@pytest.fixture
def default_ctrl_c() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_ctrl_c")
@pytest.mark.parametrize("command", [wrapped, unwrapped])
def test_an_interruption_in_a_command_is_no_defect(command: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "main", command)
    with pytest.raises(SystemExit) as ended:
        start.run_command()
    assert ended.value.code == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_defect_is_not_taken_for_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "main", broken)
    with pytest.raises(RuntimeError, match="a defect"):
        start.run_command()
