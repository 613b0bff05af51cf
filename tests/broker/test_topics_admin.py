"""Topics are made before anything reads them, and what is not as the table says is named with what to do."""

import dataclasses
import uuid

import pytest

from groundwire.schemas.settings import KafkaSettings, Settings
from groundwire.schemas.topics import DEAD_LETTERS, REQUESTS, TopicSpec
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.topics_admin import (
    SAME_COUNT,
    BrokerUnreachable,
    check_topics,
    cluster_facts,
    ensure_topics,
)


def topic(partitions: int = 3) -> TopicSpec:
    return dataclasses.replace(REQUESTS, name=f"t.{uuid.uuid4().hex}", partitions=partitions)


async def test_missing_topics_are_made_with_their_partitions_and_only_once(broker: str) -> None:
    settings = Settings(brokers=broker)
    specs = [topic(3), dataclasses.replace(DEAD_LETTERS, name=f"t.{uuid.uuid4().hex}")]
    assert await ensure_topics(settings, specs) == [spec.name for spec in specs]
    assert await ensure_topics(settings, specs) == []
    partitions = (await cluster_facts(settings)).partitions
    assert [partitions[spec.name] for spec in specs] == [3, 1]
    assert await check_topics(settings, specs) == []


async def test_a_missing_topic_is_a_problem_and_looking_does_not_make_it(broker: str) -> None:
    settings = Settings(brokers=broker)
    spec = topic()
    for _ in range(2):
        (problem,) = await check_topics(settings, [spec])
        assert problem.missing
        assert (problem.topic, problem.advice) == (spec.name, "groundwire topics create")


async def test_a_wrong_number_of_partitions_is_a_problem_with_both_numbers(broker: str) -> None:
    settings = Settings(brokers=broker)
    spec = topic(2)
    await ensure_topics(settings, [spec])
    (problem,) = await check_topics(settings, [dataclasses.replace(spec, partitions=8)])
    assert not problem.missing
    assert "has 2 partitions, and 8 are expected" in problem.message
    assert not problem.unusable, "it works as it is"


@pytest.mark.parametrize(("counts", "unusable"), [((8, 3, 8), [False, True, False]), ((3, 3, 3), [False] * 3)])
async def test_topics_that_have_to_lie_alike_are_unusable_when_their_numbers_differ(
    counts: tuple[int, ...], unusable: list[bool], own_broker: EmbeddedBroker
) -> None:
    settings = Settings(brokers=own_broker.address)
    await ensure_topics(
        settings,
        [dataclasses.replace(spec, partitions=count) for spec, count in zip(SAME_COUNT, counts, strict=True)],
    )
    wrong = {problem.topic: problem for problem in await check_topics(settings, SAME_COUNT)}
    assert list(wrong) == [
        spec.name for spec, count in zip(SAME_COUNT, counts, strict=True) if count != spec.partitions
    ]
    assert [spec.name in wrong and wrong[spec.name].unusable for spec in SAME_COUNT] == unusable
    assert all("groundwire topics create" in problem.advice for problem in wrong.values())


async def test_a_broker_that_is_not_there_is_one_clear_message() -> None:
    with pytest.raises(BrokerUnreachable, match=r"no broker answers at 127\.0\.0\.1:1"):
        await ensure_topics(Settings(brokers="127.0.0.1:1", kafka=KafkaSettings()))
