"""A consumer that has records to read and reads none is stuck; one that waits, works, or lost its broker is not."""

import asyncio

import pytest

from groundwire.streams.runtime.liveness import IdleWithLag, LivenessProbe, Sight, watch


def stuck(*sights: tuple[float, Sight | None], limit_s: float = 60) -> list[bool]:
    probe = LivenessProbe(limit_s)
    return [probe.is_stuck(sight, at) for at, sight in sights]


def test_lag_without_progress_for_the_whole_limit_is_stuck() -> None:
    idle = Sight(lag=5, progress=10)
    assert stuck((0, idle), (10, idle), (40, idle), (69, idle), (70, idle)) == [False, False, False, False, True]


def test_progress_begins_the_count_anew() -> None:
    assert (
        stuck((0, Sight(5, 10)), (10, Sight(5, 10)), (50, Sight(9, 11)), (75, Sight(9, 11)), (100, Sight(9, 11)))
        == [False] * 5
    )


def test_nothing_to_read_is_not_stuck() -> None:
    assert not any(stuck((0, Sight(0, 10)), (100, Sight(0, 10)), (1_000, Sight(0, 10))))


def test_a_broker_that_does_not_answer_is_not_the_consumers_fault() -> None:
    idle = Sight(5, 10)
    assert not any(stuck((0, idle), (10, idle), (50, None), (80, idle), (100, idle)))


async def test_the_watch_ends_with_a_message_that_says_how_many_wait() -> None:
    async def look() -> Sight:
        return Sight(lag=1_234, progress=7)

    with pytest.raises(IdleWithLag, match="1,234 records wait"):
        await asyncio.wait_for(watch(look, limit_s=0.06), 10)
