"""Records of a partition wait until what its last owner knew is read again, and are left alone when it has gone."""

import asyncio

from groundwire.streams.agents.taken_over import TakenOver


class Logs:
    """Readings that last until they are let go."""

    def __init__(self) -> None:
        self.read: list[frozenset[int]] = []
        self.go = asyncio.Event()

    async def restore(self, numbers: frozenset[int]) -> None:
        self.read.append(numbers)
        await self.go.wait()


async def test_a_record_waits_for_its_partition_and_later_ones_do_not() -> None:
    logs = Logs()
    taken = TakenOver(logs.restore)
    taken.assigned(frozenset({1, 2}))
    waiting = asyncio.create_task(taken.is_restored(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    logs.go.set()
    assert await waiting
    assert await taken.is_restored(2)
    assert logs.read == [{1, 2}]


async def test_only_new_partitions_are_read_again_and_those_that_come_back_are() -> None:
    logs = Logs()
    logs.go.set()
    taken = TakenOver(logs.restore)
    taken.assigned(frozenset({1}))
    taken.assigned(frozenset({1, 2}))
    taken.revoked(frozenset({1, 2}))
    taken.assigned(frozenset({2}))
    assert await taken.is_restored(2)
    assert logs.read == [{1}, {2}, {2}]


async def test_a_record_whose_partition_went_away_while_it_waited_is_left_to_who_has_it() -> None:
    logs = Logs()
    taken = TakenOver(logs.restore)
    taken.assigned(frozenset({1}))
    waiting = asyncio.create_task(taken.is_restored(1))
    await asyncio.sleep(0)
    taken.revoked(frozenset({1}))
    logs.go.set()
    assert not await waiting
    assert not await taken.is_restored(7), "never had it"


async def test_a_partition_that_went_and_came_back_is_waited_for_again() -> None:
    first, second = Logs(), Logs()
    rounds = iter([first, second])

    async def restore(numbers: frozenset[int]) -> None:
        await next(rounds).restore(numbers)

    taken = TakenOver(restore)
    taken.assigned(frozenset({1}))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(taken.is_restored(1))
    taken.revoked(frozenset({1}))
    taken.assigned(frozenset({1}))
    first.go.set()
    await asyncio.sleep(0.01)
    assert not waiting.done()
    second.go.set()
    assert await waiting


async def test_what_can_not_be_taken_in_stops_nobody() -> None:
    async def restore(_numbers: frozenset[int]) -> None:
        raise ValueError("a mark of another world")

    taken = TakenOver(restore)
    taken.assigned(frozenset({1}))
    assert await taken.is_restored(1)
