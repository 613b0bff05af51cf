"""Rate and concurrency: the parts of all workers add up to the whole."""

import asyncio

import pytest

from groundwire.adapters.call import CallOutcome
from groundwire.streams.flow.cool_down import CoolDown
from groundwire.streams.flow.limits import ConcurrencyCap, RateLimit
from tests.unit.stage_fakes import ManualClock, answered, failed


def passed(limit: RateLimit, clock: ManualClock, seconds: int) -> int:
    """How many calls begin when one is tried every 10 ms."""
    count = 0
    for _ in range(seconds * 100):
        if limit.wait_s() == 0:
            limit.take()
            count += 1
        clock.move(0.01)
    return count


@pytest.mark.parametrize(("per_s", "share"), [(10, 1.0), (10, 0.25), (2, 0.5), (0.5, 1.0)])
def test_calls_pass_at_the_rate_after_a_burst(per_s: float, share: float) -> None:
    clock = ManualClock()
    limit = RateLimit(per_s, clock)
    limit.set_share(share)
    expected = per_s * share * 60 + max(per_s * share, 1)
    assert abs(passed(limit, clock, 60) - expected) <= 1


def test_shares_of_all_workers_add_up_to_the_limit() -> None:
    clock = ManualClock()
    limits = [RateLimit(8, clock) for _ in range(4)]
    for limit, share in zip(limits, (0.5, 0.25, 0.125, 0.125), strict=True):
        limit.set_share(share)
        while limit.wait_s() == 0:
            limit.take()
    clock.move(1)
    tokens = 0
    for limit in limits:
        while limit.wait_s() < 1e-9:
            limit.take()
            tokens += 1
    assert tokens == 8


def test_calls_that_wait_stand_in_line() -> None:
    limit = RateLimit(2, ManualClock())
    for _ in range(2):
        limit.take()
    waits = []
    for _ in range(3):
        waits.append(limit.wait_s())
        limit.take()
    assert waits == [0.5, 1.0, 1.5]


def test_a_call_that_did_not_take_place_is_given_back() -> None:
    limit = RateLimit(1, ManualClock())
    limit.take()
    limit.give_back()
    assert limit.wait_s() == 0


def test_without_a_limit_everything_passes() -> None:
    limit = RateLimit(None, ManualClock())
    for _ in range(1_000):
        limit.take()
    limit.give_back()
    assert limit.wait_s() == 0


async def test_no_more_than_the_cap_at_once() -> None:
    cap = ConcurrencyCap(3)
    most = 0

    async def call() -> None:
        nonlocal most
        assert await cap.enter(10)
        most = max(most, cap.under_way)
        await asyncio.sleep(0)
        cap.leave()

    await asyncio.gather(*(call() for _ in range(50)))
    assert most == 3
    assert cap.under_way == 0


async def test_first_come_first_served() -> None:
    cap = ConcurrencyCap(1)
    order: list[int] = []

    async def call(number: int) -> None:
        assert await cap.enter(10)
        order.append(number)
        await asyncio.sleep(0)
        cap.leave()

    await asyncio.gather(*(call(number) for number in range(10)))
    assert order == list(range(10))


async def test_who_waits_too_long_goes_away_without_taking_a_place() -> None:
    cap = ConcurrencyCap(1)
    assert await cap.enter(0)
    assert not await cap.enter(0.01)
    cap.leave()
    assert await cap.enter(0)
    assert cap.under_way == 1


@pytest.mark.parametrize("granted", [False, True])
async def test_who_is_cancelled_while_waiting_takes_no_place(granted: bool) -> None:
    cap = ConcurrencyCap(1)
    assert await cap.enter(0)
    waiting = asyncio.create_task(cap.enter(10))
    await asyncio.sleep(0)
    if granted:
        cap.leave()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cap.under_way == (0 if granted else 1)


async def test_a_larger_share_lets_those_who_wait_in() -> None:
    cap = ConcurrencyCap(4)
    cap.set_share(0.25)
    assert await cap.enter(0)
    assert cap.full()
    waiting = asyncio.create_task(cap.enter(10))
    await asyncio.sleep(0)
    cap.set_share(0.5)
    assert await waiting
    assert cap.full()


async def test_the_smallest_share_still_lets_one_call_pass() -> None:
    cap = ConcurrencyCap(2)
    cap.set_share(0.01)
    assert await cap.enter(0)


def test_a_vendors_wish_is_kept_up_to_the_cap() -> None:
    cool_down = CoolDown(cap_s=30)
    cool_down.ended(failed("rate_limited", retry_after_s=5), 100)
    assert cool_down.refusal(101) == "rate limited: not before 4.0 s from now"
    assert cool_down.refusal(105) is None
    cool_down.ended(failed("quota", retry_after_s=9_999), 200)
    assert cool_down.refusal(229.9) is not None
    assert cool_down.refusal(230) is None


def test_a_shorter_wish_does_not_shorten_a_longer_one_but_an_answer_ends_it() -> None:
    cool_down = CoolDown(cap_s=30)
    cool_down.ended(failed("rate_limited", retry_after_s=20), 0)
    cool_down.ended(failed("rate_limited", retry_after_s=1), 0)
    assert cool_down.refusal(10) is not None
    cool_down.ended(answered("alpha", "q"), 11)
    assert cool_down.refusal(11) is None


@pytest.mark.parametrize("outcome", [failed("server_error"), failed("rate_limited", retry_after_s=0)])
def test_without_a_wish_there_is_no_cool_down(outcome: CallOutcome) -> None:
    cool_down = CoolDown(cap_s=30)
    cool_down.ended(outcome, 0)
    assert cool_down.refusal(0) is None
