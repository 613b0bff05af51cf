"""A place that no test names does nothing; a named one ends the process at the passage that was asked for."""

import subprocess
import sys

import pytest

from groundwire.streams.runtime.failpoints import VARIABLE, compile_failpoints, failpoint

PASSES_BY = """
from groundwire.streams.runtime.failpoints import failpoint
for number in range(5):
    failpoint("elsewhere")
    failpoint("here:topic")
    print(number, flush=True)
"""


def passages_before_the_end(value: str) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", PASSES_BY], env={VARIABLE: value}, capture_output=True, text=True, check=False
    )
    return done.returncode, len(done.stdout.split())


@pytest.mark.parametrize(("value", "passages"), [("here:topic", 0), ("here:topic@3", 2), ("other@2, here:topic@5", 4)])
def test_the_process_is_killed_at_the_named_passage(value: str, passages: int) -> None:
    assert passages_before_the_end(value) == (-9, passages)


def test_a_passage_that_is_never_reached_ends_nothing() -> None:
    assert passages_before_the_end("here:topic@99") == (0, 5)


def test_without_the_variable_there_is_nothing_to_pass_by() -> None:
    assert compile_failpoints({}) is None
    assert compile_failpoints({VARIABLE: " , "}) is None
    failpoint("here")


def test_a_number_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="soon"):
        compile_failpoints({VARIABLE: "here@soon"})
