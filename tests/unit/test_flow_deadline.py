"""How much of a request's time an attempt gets."""

import pytest

from groundwire.streams.flow.deadline import Deadline, attempt_timeout_s
from tests.unit.stage_fakes import NOON_MS, ManualClock


@pytest.mark.parametrize(("total_s", "left_s"), [(15, 14.9), (1, 0.9), (0.2, 0.18)])
def test_a_little_is_kept_back_for_the_way_to_the_consumer(total_s: float, left_s: float) -> None:
    deadline = Deadline(NOON_MS, NOON_MS + int(total_s * 1000), ManualClock())
    assert deadline.left_s() == pytest.approx(left_s)


def test_nothing_is_left_after_the_deadline() -> None:
    clock = ManualClock()
    deadline = Deadline(NOON_MS, NOON_MS + 1_000, clock)
    assert not deadline.too_near()
    clock.move(0.86)
    assert deadline.too_near()
    clock.move(60)
    assert deadline.left_s() == 0


def test_a_deadline_before_its_request_leaves_nothing() -> None:
    assert Deadline(NOON_MS, NOON_MS - 5_000, ManualClock()).left_s() == 0


@pytest.mark.parametrize(
    ("left_s", "own_s", "another_follows", "expected"),
    [(10, 8, False, 8), (5, 8, False, 5), (10, 8, True, 6), (20, 8, True, 8), (0, 8, True, 0)],
)
def test_an_attempt_gets_its_providers_time_what_is_left_or_a_share_of_it(
    left_s: float, own_s: float, another_follows: bool, expected: float
) -> None:
    assert attempt_timeout_s(left_s, own_s, share=0.6, another_follows=another_follows) == expected
