"""A record is read, handled, its outputs confirmed, and only then committed; whatever happens in between, nothing is lost."""

import asyncio
import base64
import collections
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import KafkaSettings, Settings
from groundwire.schemas.topics import DEAD_LETTERS, TopicSpec
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.liveness import IdleWithLag, Sight
from groundwire.streams.runtime.publisher import PublishRefused
from groundwire.streams.runtime.topics_admin import BrokerUnreachable, ensure_topics
from groundwire.streams.runtime.transport import LoopConsumer, TunedFaust
from tests.broker.topic_ends import committed, count, eventually, new_role, new_topics, put, running, take

SettingsFor = Callable[[str], Settings]


@pytest.fixture
def settings(broker: str, settings_for: SettingsFor) -> Settings:
    return settings_for(broker)


def echo_to(topic: TopicSpec) -> Callable[[InboundRecord], "asyncio.Future[Sequence[OutboundRecord]]"]:
    async def echo(record: InboundRecord) -> Sequence[OutboundRecord]:
        return [OutboundRecord(topic.name, record.key, record.value or b"", record.headers)]

    return echo  # type: ignore[return-value]


async def letters_from(settings: Settings, topic: TopicSpec, expected: int) -> list[DeadLetter]:
    """Dead letters whose origin is `topic`: others share the one topic of dead letters."""
    found: list[DeadLetter] = []

    async def enough() -> bool:
        there = await take(settings, DEAD_LETTERS.name, await count(settings, DEAD_LETTERS))
        found[:] = [letter for record in there if (letter := DeadLetter.decode(record.value)).topic == topic.name]
        return len(found) >= expected

    await eventually(enough)
    return found


async def test_records_go_through_two_agents_with_key_value_and_headers_and_leave_no_files(settings: Settings) -> None:
    first, second, third = await new_topics(settings, 3)
    files = set(Path.cwd().iterdir())
    app = PipelineApp(new_role(), settings)
    app.add_agent(first.name, echo_to(second), window=8)
    app.add_agent(second.name, echo_to(third), window=8)
    async with running(app):
        await put(settings, first.name, [b"%d" % n for n in range(50)], headers=[("a", b"1"), ("a", b"2")])
        out = await take(settings, third.name, 50)
    assert set(Path.cwd().iterdir()) == files
    assert {(record.key, record.value) for record in out} == {(b"%d" % n, b"%d" % n) for n in range(50)}
    assert all(record.headers == (("a", b"1"), ("a", b"2")) for record in out)
    assert sum(await committed(settings, app.group, first)) == 50
    assert sum(await committed(settings, app.group, second)) == 50


async def test_after_a_stop_the_next_worker_goes_on_where_the_last_one_was(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    role = new_role()
    seen: list[bytes | None] = []

    async def note(record: InboundRecord) -> Sequence[OutboundRecord]:
        seen.append(record.value)
        return []

    for round_ in range(2):
        app = PipelineApp(role, settings)
        app.add_agent(topic.name, note, window=8)
        async with running(app):
            await put(settings, topic.name, [b"%d-%d" % (round_, n) for n in range(20)])
            await eventually(lambda round_=round_: _is(len(seen) >= 20 * (round_ + 1)))
    assert sorted(seen) == sorted(b"%d-%d" % (r, n) for r in range(2) for n in range(20)), "none lost, none twice"


async def _is(value: bool) -> bool:
    return value


async def test_a_record_in_work_holds_back_the_commit_of_those_behind_it(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1, partitions=1)
    release = asyncio.Event()
    done: list[bytes] = []

    async def first_one_waits(record: InboundRecord) -> Sequence[OutboundRecord]:
        if record.offset == 3:
            await release.wait()
        done.append(record.value or b"")
        return []

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, first_one_waits, window=16)
    async with running(app):
        await put(settings, topic.name, [b"%d" % n for n in range(10)])
        await eventually(lambda: _is(len(done) == 9))
        await asyncio.sleep(1.2)  # two commits
        assert await committed(settings, app.group, topic) == [3]
        release.set()

        async def all_committed() -> bool:
            return await committed(settings, app.group, topic) == [10]

        await eventually(all_committed)


async def test_no_more_records_are_in_work_than_the_window_allows(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    at_once, most = 0, 0

    async def slowly(record: InboundRecord) -> Sequence[OutboundRecord]:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        return []

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, slowly, window=3)
    async with running(app):
        await put(settings, topic.name, [b"x"] * 40)

        async def all_committed() -> bool:
            return sum(await committed(settings, app.group, topic)) == 40

        await eventually(all_committed)
    assert most == 3


async def test_a_handler_that_raises_is_a_dead_letter_and_the_next_record_is_served(settings: Settings) -> None:
    topic, out = await new_topics(settings, 2, partitions=1)

    async def fussy(record: InboundRecord) -> Sequence[OutboundRecord]:
        if record.value == b"1":
            raise ValueError("not this one")
        if record.value == b"2":
            await _cancelled()
        return [OutboundRecord(out.name, record.key, b"a tombstone" if record.value is None else record.value)]

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, fussy, window=4)
    async with running(app):
        await put(settings, topic.name, [b"0", b"1", b"2", None, b"4"])
        assert sorted(record.value for record in await take(settings, out.name, 3)) == [b"0", b"4", b"a tombstone"]
        letter, other = sorted(await letters_from(settings, topic, 2), key=lambda one: one.offset)
    assert (letter.reason, letter.offset, letter.stage) == ("crash", 1, app.role)
    assert letter.message == "ValueError: not this one"
    assert base64.b64decode(letter.value_base64 or "") == b"1"
    assert (other.reason, other.offset) == ("crash", 2)
    assert other.message.startswith("CancelledError")
    assert await committed(settings, app.group, topic) == [5]


async def _cancelled() -> None:
    """Waits for something that somebody else cancels."""
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    never.cancel()
    await never


async def test_an_output_that_is_too_large_for_the_broker_is_a_dead_letter_not_an_endless_try(
    settings: Settings,
) -> None:
    (topic,) = await new_topics(settings, 1)

    async def inflate(record: InboundRecord) -> Sequence[OutboundRecord]:
        return [OutboundRecord(topic.name, record.key, b"x" * 10 * 1024 * 1024)]

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, inflate, window=4)
    async with running(app):
        await put(settings, topic.name, [b"small"])
        (letter,) = await letters_from(settings, topic, 1)
        with pytest.raises(PublishRefused):
            await app.publish([OutboundRecord(topic.name, None, b"x" * 10 * 1024 * 1024)])
    assert letter.reason == "refused"
    assert "10,485,760 bytes" in letter.message


async def test_a_record_of_eight_mebibytes_goes_through(settings: Settings) -> None:
    topic, out = await new_topics(settings, 2)
    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, echo_to(out), window=4)
    async with running(app):
        await put(settings, topic.name, [b"small", b"x" * 8 * 1024 * 1024, b"small too"])
        sizes = sorted(len(record.value) for record in await take(settings, out.name, 3))
    assert sizes == [5, 9, 8 * 1024 * 1024]


async def test_a_partition_that_does_not_exist_is_ignored_and_a_topic_that_does_not_goes_to_the_default(
    settings: Settings,
) -> None:
    topic, default = await new_topics(settings, 2)
    settings = settings.model_copy(update={"reply": settings.reply.model_copy(update={"default_topic": default.name})})

    async def badly_addressed(record: InboundRecord) -> Sequence[OutboundRecord]:
        return [
            OutboundRecord(default.name, b"k", b"by key", partition=99),
            OutboundRecord(default.name, b"k", b"as asked", partition=2),
            OutboundRecord(f"{topic.name}.nowhere", b"k", b"redirected", partition=0),
        ]

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, badly_addressed, window=4)
    async with running(app):
        await put(settings, topic.name, [b"go"])
        out = {record.value: record.partition for record in await take(settings, default.name, 3)}
        assert await app.partitions(default.name) == 4
        assert await app.partitions(f"{topic.name}.nowhere") is None
    assert out[b"as asked"] == 2
    assert set(out) == {b"by key", b"as asked", b"redirected"}
    assert out[b"by key"] == out[b"redirected"], "placed by its key like any other record of that key"


async def test_what_is_in_work_when_told_to_stop_is_finished_and_committed(settings: Settings) -> None:
    topic, out = await new_topics(settings, 2)
    begun = asyncio.Event()

    async def slowly(record: InboundRecord) -> Sequence[OutboundRecord]:
        begun.set()
        await asyncio.sleep(0.5)
        return [OutboundRecord(out.name, record.key, record.value or b"")]

    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, slowly, window=4)
    async with running(app):
        await put(settings, topic.name, [b"one"])
        await begun.wait()
    assert [record.value for record in await take(settings, out.name, 1)] == [b"one"]
    assert sum(await committed(settings, app.group, topic)) == 1


@pytest.mark.parametrize("pause_s", [0, 0.02, 0.2])
async def test_a_stop_at_any_moment_of_the_start_ends_the_role_without_an_error(
    pause_s: float, settings: Settings
) -> None:
    (topic,) = await new_topics(settings, 1)
    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, echo_to(topic), window=1)
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(pause_s, stop.set)
    await asyncio.wait_for(app.run(stop), 30)


async def test_two_workers_share_the_partitions_and_between_them_do_each_record_once(settings: Settings) -> None:
    # A machine that is busy with other tests must not get a live member thrown out of the group.
    settings = settings.model_copy(update={"kafka": KafkaSettings(session_timeout_s=6, rebalance_timeout_s=6)})
    (topic,) = await new_topics(settings, 1)
    role = new_role()
    done: collections.Counter[tuple[int, int]] = collections.Counter()
    who: list[str] = []

    def worker(name: str) -> PipelineApp:
        async def note(record: InboundRecord) -> Sequence[OutboundRecord]:
            await asyncio.sleep(0.005)
            done[record.partition, record.offset] += 1
            who.append(name)
            return []

        app = PipelineApp(role, settings)
        app.add_agent(topic.name, note, window=2)
        return app

    sent = 0

    async def feed() -> None:
        # As long as it takes: joining waits half the session, and then there must still be something to share.
        nonlocal sent
        while "b" not in who:
            await put(settings, topic.name, [b"x"] * 20)
            sent += 20
            await asyncio.sleep(0.1)

    async with running(worker("a")):
        feeding = asyncio.create_task(feed())
        async with running(worker("b")):
            await eventually(lambda: _is("b" in who))
        await feeding  # b has left again: a has everything

        async def all_committed() -> bool:
            return sum(await committed(settings, f"groundwire.{role}", topic)) == sent

        await eventually(all_committed)
    ends = {partition: 1 + max(offset for at, offset in done if at == partition) for partition, _ in done}
    missing = [(p, o) for p, end in ends.items() for o in range(end) if (p, o) not in done]
    assert missing == [], "committed and never handled"
    assert sum(done.values()) == sent, "a rebalance with live workers repeats nothing"
    assert {"a", "b"} == set(who)


async def test_a_record_still_in_work_over_a_rebalance_is_not_begun_twice_here(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1, partitions=1)
    role = new_role()
    begun, release = 0, asyncio.Event()

    async def very_slowly(record: InboundRecord) -> Sequence[OutboundRecord]:
        nonlocal begun
        begun += 1
        await release.wait()
        return []

    def worker() -> PipelineApp:
        app = PipelineApp(role, settings)
        app.add_agent(topic.name, very_slowly, window=4)
        return app

    app = worker()
    came: list[int] = []

    async def assigned(partitions: frozenset[tuple[str, int]]) -> None:
        came.append(len(partitions))
        raise ValueError("a listener's own trouble keeps no partition from being read")

    app.on_rebalance(assigned=assigned)
    async with running(app):
        await put(settings, topic.name, [b"x"])
        await eventually(lambda: _is(begun == 1))
        second = worker()
        async with running(second):  # joins, and one of the two has the partition
            pass
        await eventually(lambda: _is(came[-1] == 1 and len(came) >= 2))  # and it is back here
        await asyncio.sleep(0.5)
        release.set()

        async def all_committed() -> bool:
            return await committed(settings, app.group, topic) == [1]

        await eventually(all_committed)
    assert begun <= 2, "begun at most once by each of the two workers"


async def test_a_broker_that_is_replaced_by_an_empty_one_is_worked_on_without_a_hand(
    own_broker: EmbeddedBroker, settings_for: SettingsFor
) -> None:
    settings = settings_for(own_broker.address)
    topic, out = await new_topics(settings, 2)
    app = PipelineApp(new_role(), settings)
    app.add_agent(topic.name, echo_to(out), window=4)
    async with running(app):
        await put(settings, topic.name, [b"before %d" % n for n in range(30)])
        await take(settings, out.name, 30)
        own_broker.restart()
        await ensure_topics(settings, [topic, out])
        await put(settings, topic.name, [b"after %d" % n for n in range(10)])
        there = await take(settings, out.name, 10)
    assert {record.value for record in there} == {b"after %d" % n for n in range(10)}


async def test_a_consumer_that_sits_idle_with_lag_ends_its_worker_and_the_next_one_reads_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a broker's restart in aiokafka #1154: it is a member, it has partitions, and fetches bring nothing."""
    source, target = await new_topics(settings, 2)
    quick = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"idle_with_lag_s": 0.6})})
    role = new_role()
    app = PipelineApp(role, quick)
    app.add_agent(source.name, echo_to(target), window=8)

    async def nothing(*_: object) -> dict[object, object]:
        await asyncio.sleep(0.01)
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(LoopConsumer, "_getmany", nothing)
        working = asyncio.create_task(app.run(asyncio.Event()))
        await asyncio.wait_for(app.ready.wait(), 30)
        await put(settings, source.name, [b"%d" % n for n in range(7)])
        with pytest.raises(IdleWithLag, match="records wait and none was read"):
            await asyncio.wait_for(working, 30)
    successor = PipelineApp(role, settings)
    successor.add_agent(source.name, echo_to(target), window=8)
    async with running(successor):
        assert sorted(record.value for record in await take(settings, target.name, 7)) == [b"%d" % n for n in range(7)]


async def test_a_worker_whose_window_is_full_is_busy_and_not_idle(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call to a vendor may take longer than the probe's limit: ending the worker then would pay for it again."""
    (source,) = await new_topics(settings, 1)
    limit_s = 0.3
    quick = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"idle_with_lag_s": limit_s})})
    release, done = asyncio.Event(), 0

    async def slow(_: InboundRecord) -> Sequence[OutboundRecord]:
        nonlocal done
        await release.wait()
        done += 1
        return []

    looks = asyncio.Semaphore(0)
    look = PipelineApp._look

    async def counted(self: PipelineApp, app: TunedFaust) -> Sight | None:
        looks.release()
        return await look(self, app)

    monkeypatch.setattr(PipelineApp, "_look", counted)
    app = PipelineApp(new_role(), quick)
    app.add_agent(source.name, slow, window=1)
    # More than what is buffered between the fetch and the window, so that some are left in the log.
    count = 3_000
    async with running(app):
        await put(settings, source.name, [b"%d" % n for n in range(count)])
        for _ in range(30):  # the limit is six looks
            await asyncio.wait_for(looks.acquire(), 30)
        release.set()

        async def all_done() -> bool:
            return done == count

        await eventually(all_done)


async def test_a_broker_that_is_not_there_is_one_clear_error(settings_for: SettingsFor) -> None:
    app = PipelineApp(new_role(), settings_for("127.0.0.1:1"))
    with pytest.raises(BrokerUnreachable):
        await app.run(asyncio.Event())
