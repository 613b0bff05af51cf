"""Topics are made before anything reads them, and what is not as the table says is named with what to do."""

import dataclasses
import uuid

import pytest

from groundwire.schemas.settings import KafkaSettings, Settings
from groundwire.schemas.topics import DEAD_LETTERS, REQUESTS, TopicSpec
from groundwire.streams.runtime.topics_admin import BrokerUnreachable, check_topics, cluster_facts, ensure_topics


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


async def test_a_broker_that_is_not_there_is_one_clear_message() -> None:
    with pytest.raises(BrokerUnreachable, match=r"no broker answers at 127\.0\.0\.1:1"):
        await ensure_topics(Settings(brokers="127.0.0.1:1", kafka=KafkaSettings()))
